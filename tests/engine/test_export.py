"""The text, Markdown and JSON of a conversation."""

import json
import os
import re
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.errors import InvalidInput
from engine.export import WRITERS, Conversation, as_json, markdown, plain, write
from engine.messages.conversations import HeardWord, Turn
from engine.messages.words import Ending
from tests.engine.llm.skills.asking import BERLIN, in_zone

BEGAN = datetime(2026, 3, 1, 10, 15, tzinfo=UTC)


def turn(
    number: int, said: str, reply: str, *, start: float = 0.0, words: int | None = None
) -> Turn:
    """A turn of which `words` words were heard (None = all), each for half a second."""
    found = list(re.finditer(r"\S+", reply))[:words]
    times = [start + 2.0 + place / 2 for place in range(len(found))]
    told = tuple(
        HeardWord(each[0], *each.span(), at, at + 0.5)
        for each, at in zip(found, times, strict=True)
    )
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


def conversation(*turns: Turn) -> Conversation:
    return Conversation(BEGAN, turns)


TALK = conversation(
    turn(1, "What time is it?", "It is ten."),
    turn(2, "And *now*?", "It is **still** ten, my friend.", start=5.0, words=2),
)


GOES_ON = conversation(Turn(1, None, 0.0, "Hm?", reply="It is", heard="It"))


@pytest.mark.skipif(os.name == "nt", reason="Windows does not take TZ")
@pytest.mark.parametrize(
    ("began", "lasts_s", "clock"),
    [
        ("2026-10-25T02:50+02:00", 1_200, "02:10:00"),
        ("2026-03-29T01:50+01:00", 1_200, "03:10:00"),
        ("2026-10-25T02:50-04:00", 1_200, "03:10:00"),
    ],
    ids=["back", "ahead", "begun in another zone"],
)
def test_a_change_of_the_clocks_inside_a_conversation_shows(berlin, began, lasts_s, clock):
    assert Conversation(datetime.fromisoformat(began)).clock(lasts_s) == clock


@pytest.fixture
def berlin(monkeypatch):
    yield from in_zone(monkeypatch, BERLIN)


@pytest.mark.parametrize("talk", [TALK, GOES_ON], ids=["whole", "goes on"])
def test_what_was_written_as_json_reads_back_the_same(talk):
    whole = json.loads(as_json(talk))
    assert (whole["format"], whole["version"]) == ("rubato conversation", 2)
    assert datetime.fromisoformat(whole["began"]) == talk.began
    for found, each in zip(whole["turns"], talk.turns, strict=True):
        ending = each.ending.value if each.ending else None
        words = [asdict(word) for word in each.words]
        assert found == asdict(each) | {"ending": ending, "words": words}


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
    assert json.loads(as_json(unheard))["turns"][0]["words"] == []


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
        (SHORT, "talk.docx", r"'\.docx'.*\.json"),
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
