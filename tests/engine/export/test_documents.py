"""The text, Markdown, JSON and subtitles of a conversation."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InvalidInput
from engine.export.conversation import Conversation, HeardWord, Stretch, Turn
from engine.export.documents import WRITERS, as_json, markdown, plain, write
from engine.export.subtitles import LINE, LINES, LONGEST_S, subtitles
from engine.messages.events import TurnMetrics
from engine.messages.words import Ending

BEGAN = datetime(2026, 3, 1, 10, 15, tzinfo=UTC)


def heard(reply: str, *, at: float = 2.0, each: float = 0.4, words: int | None = None):
    """The words of a reply, one after the other; the first `words` of them."""
    found, position = [], 0
    for number, text in enumerate(reply.split()[:words]):
        start = reply.index(text, position)
        position = start + len(text)
        begin = round(at + number * each, 3)
        found.append(HeardWord(text, start, position, begin, round(begin + each, 3)))
    return tuple(found)


def turn(
    number: int, said: str, reply: str, *, start: float = 0.0, words: int | None = None
) -> Turn:
    """A turn of which `words` words were heard (None = all)."""
    told = heard(reply, at=start + 2.0, words=words)
    return Turn(
        number=number,
        ending=Ending.COMPLETE if words is None else Ending.INTERRUPTED_BY_ESCAPE,
        start_s=start,
        said=said,
        said_end_s=start + 1.5,
        reply=reply,
        heard=reply if words is None else reply[: told[-1].end if told else 0],
        words=told,
    )


def conversation(*turns: Turn, recorded: tuple[Stretch, ...] = ()) -> Conversation:
    return Conversation(BEGAN, turns, recorded)


TALK = conversation(
    turn(1, "What time is it?", "It is ten."),
    turn(2, "And *now*?", "It is **still** ten, my friend.", start=5.0, words=2),
    recorded=(Stretch(0.25, 12.0),),
)


def read(text: str) -> Conversation:
    """The JSON as values again."""
    whole: dict[str, Any] = json.loads(text)
    assert (whole["format"], whole["version"]) == ("rubato conversation", 1)
    turns = [
        Turn(
            **{
                **each,
                "ending": each["ending"] and Ending(each["ending"]),
                "words": tuple(HeardWord(**word) for word in each["words"]),
                "metrics": TurnMetrics(**each["metrics"]),
            }
        )
        for each in whole["turns"]
    ]
    recorded = tuple(Stretch(**each) for each in whole["recorded"])
    return Conversation(datetime.fromisoformat(whole["began"]), tuple(turns), recorded)


GOES_ON = conversation(Turn(1, None, 0.0, "Hm?", reply="It is", heard="It"))


@pytest.mark.parametrize("talk", [TALK, GOES_ON], ids=["whole", "goes on"])
def test_what_was_written_as_json_reads_back_the_same(talk):
    assert read(as_json(talk)) == talk


def test_the_text_says_who_said_what_when_and_what_was_not_heard():
    assert plain(TALK).splitlines() == [
        "Conversation of 2026-03-01 10:15",
        "",
        "[10:15:00] You: What time is it?",
        "[10:15:02] Rubato: It is ten.",
        "",
        "[10:15:05] You: And *now*?",
        "[10:15:07] Rubato: It is",
        "           (interrupted by Escape)",
        "           (not heard: **still** ten, my friend.)",
    ]


def test_markdown_keeps_the_marks_of_replies_and_only_those_and_nothing_unheard_is_told_as_heard():
    text = markdown(TALK)
    assert "> And \\*now\\*?" in text
    assert "\nIt is\n" in text
    assert "*not heard: \\*\\*still\\*\\* ten, my friend.*" in text
    unheard = conversation(turn(1, "Hm?", "Never spoken.", words=0))
    assert "Rubato:" not in plain(unheard)
    assert "not heard: Never spoken." in plain(unheard)
    assert "**Rubato**" not in markdown(unheard)
    assert read(as_json(unheard)).turns[0].words == ()


SHORT = conversation(turn(1, "What time is it?", "It is ten."))


@pytest.mark.parametrize("suffix", WRITERS)
def test_the_suffix_chooses_the_format_and_half_a_character_keeps_nothing_from_it(suffix, tmp_path):
    path = tmp_path / f"talk{suffix.upper()}"
    write(SHORT, path)
    assert path.read_text(encoding="utf-8") == WRITERS[suffix](SHORT)
    assert list(tmp_path.iterdir()) == [path]
    write(conversation(turn(1, "Ten\ud83c?", "Great\udf89 news.")), path)
    assert "Great\ufffd" in path.read_text(encoding="utf-8")


def test_what_cannot_be_written_is_refused_and_leaves_the_older_file_alone(tmp_path, monkeypatch):
    for talk, name, refusal in (
        (SHORT, "talk.docx", r"'\.docx'.*\.srt"),
        (conversation(), "talk.txt", "no conversation yet"),
        (SHORT, "nowhere/talk.txt", "cannot be written"),
    ):
        with pytest.raises(InvalidInput, match=refusal):
            write(talk, tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    path = tmp_path / "talk.txt"
    write(SHORT, path)
    before = path.read_text(encoding="utf-8")

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InvalidInput, match="No space left"):
        write(conversation(turn(1, "More", "Yes.")), path)
    assert path.read_text(encoding="utf-8") == before
    assert list(tmp_path.iterdir()) == [path]


LONG = (
    "The metronome was patented by Johann Maelzel in 1815, though Dietrich Winkel had built the "
    "first one. Beethoven was among the first to print its numbers in his scores, and players "
    "have argued about them ever since."
)


@dataclass(frozen=True)
class Shown:
    start_s: float
    end_s: float
    lines: tuple[str, ...]


def shown(text: str) -> list[Shown]:
    """A file as a player reads it."""
    cues = []
    for number, block in enumerate(filter(None, text.strip().split("\n\n")), 1):
        index, times, *lines = block.split("\n")
        assert index == str(number)
        stamps = re.findall(r"(\d\d):(\d\d):(\d\d),(\d\d\d)", times)
        start, end = (
            int(h) * 3600 + int(m) * 60 + int(s) + int(ms) / 1000 for h, m, s, ms in stamps
        )
        cues.append(Shown(start, end, tuple(lines)))
    return cues


def test_a_turn_is_a_cue_for_each_side_from_the_beginning_of_the_recording():
    text = subtitles(conversation(turn(1, "What time is it?", "It is ten.")))
    assert text == (
        "1\n00:00:00,000 --> 00:00:01,500\nYou: What time is it?\n\n"
        "2\n00:00:02,000 --> 00:00:03,200\nRubato: It is ten.\n\n"
    )
    both = (turn(1, "Before", "Yes."), turn(2, "After", "No.", start=60.0))
    cues = shown(subtitles(conversation(*both, recorded=(Stretch(50.0, 30.0),))))
    found = [(cue.start_s, cue.lines) for cue in cues]
    assert found == [(10.0, ("You: After",)), (12.0, ("Rubato: No.",))]


def test_a_long_reply_is_cut_into_cues_that_can_be_read():
    cues = shown(subtitles(conversation(turn(1, "Go on", LONG))))[1:]
    assert len(cues) > 3
    assert all(len(cue.lines) <= LINES for cue in cues)
    assert all(len(line) <= LINE for cue in cues for line in cue.lines)
    assert all(cue.end_s - cue.start_s <= LONGEST_S + 1e-6 for cue in cues)
    assert " ".join(line for cue in cues for line in cue.lines) == "Rubato: " + LONG


def test_a_sentence_that_is_over_ends_its_cue_and_what_nobody_heard_has_none():
    cues = shown(subtitles(conversation(turn(1, "", "It is ten in the morning. I like mornings."))))
    assert [cue.lines[-1][-9:] for cue in cues] == [" morning.", "mornings."]
    text = subtitles(conversation(turn(1, "Go on", LONG, words=4)))
    assert "The metronome was patented" in text
    assert "Johann" not in text
    assert "Rubato" not in subtitles(conversation(turn(1, "Go on", LONG, words=0)))


def test_spoken_words_that_share_a_written_one_are_shown_once_and_marks_are_not():
    reply = "It costs **$5** now."
    words = (
        HeardWord("It", 0, 2, 0.0, 0.2),
        HeardWord("costs", 3, 8, 0.2, 0.5),
        HeardWord("five", 11, 13, 0.5, 0.8),
        HeardWord("dollars", 11, 13, 0.8, 1.2),
        HeardWord("now.", 16, 20, 1.2, 1.6),
    )
    one = Turn(1, Ending.COMPLETE, 0.0, reply=reply, heard=reply, words=words)
    (cue,) = shown(subtitles(conversation(one)))
    assert cue.lines == ("Rubato: It costs $5 now.",)
    assert cue.end_s == pytest.approx(1.6)


def test_a_pause_begins_a_new_cue_and_who_interrupts_ends_it():
    words = (HeardWord("One", 0, 3, 0.0, 0.3), HeardWord("two", 4, 7, 3.0, 3.3))
    one = Turn(1, Ending.COMPLETE, 0.0, reply="One two", heard="One two", words=words)
    lines = [cue.lines for cue in shown(subtitles(conversation(one)))]
    assert lines == [("Rubato: One",), ("two",)]
    first = turn(1, "", "One two three four")  # heard from 2.0 to 3.6
    second = turn(2, "Stop please", "Yes.", start=3.0)
    cues = shown(subtitles(conversation(first, second)))
    assert [(cue.start_s, cue.end_s) for cue in cues[:2]] == [(2.0, 3.0), (3.0, 4.5)]


words_heard = st.lists(
    st.tuples(
        st.text(st.sampled_from("abcdefgh.,!"), min_size=1, max_size=60),
        st.floats(0.0, 9.0),
        st.floats(0.0, 3.0),
    ),
    max_size=40,
)


@settings(max_examples=50)
@given(words_heard, st.floats(0, 5), st.text(st.sampled_from("ab "), max_size=200))
def test_cues_are_in_order_whatever_was_said(spoken, start, said):
    reply, words, now = "", [], 1.0
    for text, length, gap in spoken:
        words.append(HeardWord(text, len(reply), len(reply) + len(text), now, now + length))
        reply += text + " "
        now += length + gap
    one = Turn(1, Ending.COMPLETE, 0.0, said, start, reply=reply, heard=reply, words=tuple(words))
    cues = shown(subtitles(conversation(one, turn(2, said, "Yes.", start=start))))
    times = [at for cue in cues for at in (cue.start_s, cue.end_s)]
    assert times == sorted(times)
    assert all(0 < cue.end_s - cue.start_s <= LONGEST_S + 0.002 for cue in cues)
    assert all(len(cue.lines) <= LINES for cue in cues)
