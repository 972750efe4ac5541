"""Spoken questions through the whole loop by files: microphone, voice activity, recogniser, skills,
speakable, voice, loudspeaker. Real parts, real time, a process of its own.

The pauses between the questions of a file are long enough for a loaded machine to think, and where
its loudspeaker ran dry all the same, the conversation is held again. The conversations are held at
once: most of their time they wait.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.api import SayOptions, say
from tests.end_to_end.ear import Ear, as_spoken, between, recording, stretches
from tests.end_to_end.program import Done, rubato
from tests.end_to_end.spoken import HEAD_S, RATE, missing_programs, spoken, write_questions
from tests.help.fakes.parts import FORMANT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing_programs()), reason="flite is not installed"),
]

APART_S = 1.0  # between two replies; the voice's own pauses are shorter
REPLY_S = 8.0  # for thinking and a short reply
TRIES = 4  # a busy machine
# No question whose answer hangs on the clock: the ear mishears some minutes of the day.
MILES = "convert ten miles to kilometers"
MILES_ANSWER = "10 miles is about 16.09 kilometres."
SLOWER, SLOWER_ANSWER = "speak slower", "Speaking slower."
TIMER, TIMER_ANSWER = "set a timer for two minutes", "Timer set for 2 minutes."
ABILITIES, AGAIN = "what can you do", "say that again"
STAGES = ["transcript", "first_token", "first_word", "first_audio", "heard"]


def conversation(folder: Path, *questions: str) -> "Conversation":
    question, reply = folder / "questions.wav", folder / "replies.wav"
    write_questions(question, *questions, pauses_s=(REPLY_S,) * (len(questions) - 1))
    for _ in range(TRIES):
        done = rubato(folder, "converse", "--mic", question, "--speaker", reply, "--json")
        turns = done.json["turns"]
        if [turn["underruns"] for turn in turns] == [0] * len(questions):
            break
    return Conversation(turns, reply)


def demonstration(folder: Path) -> tuple[Done, Path]:
    out = folder / "out"
    whole_s = seconds_of(MILES_ANSWER, folder)
    for _ in range(TRIES):
        done = rubato(folder, "demo", "--out", out)
        replies = stretches(*recording(out / "reply.wav"), apart_s=APART_S)
        if [end - start for start, end in replies] == [pytest.approx(whole_s, abs=0.05)]:
            break  # with gaps it is longer
    return done, out


class Conversation:
    """The turns that were printed, and what was recorded of each reply."""

    def __init__(self, turns: list[dict[str, Any]], wav: Path) -> None:
        self.turns = turns
        self.pcm, self.rate = recording(wav)
        self.replies = stretches(self.pcm, self.rate, apart_s=APART_S)  # start and end in seconds

    def heard(self, number: int, ear: Ear) -> str:
        return ear.hear(between(self.pcm, self.rate, *self.replies[number]), self.rate)

    def seconds(self, number: int) -> float:
        start, end = self.replies[number]
        return end - start


def seconds_of(text: str, folder: Path, *, rate: float | None = None) -> float:
    out = folder / "alone.wav"
    say(text, replace(FORMANT, speech=replace(FORMANT.speech, rate=rate)), SayOptions(out=out))
    start, end = stretches(*recording(out), apart_s=APART_S)[0]
    return end - start


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """They all start before the first test; whoever asks for a result waits for it."""
    with ThreadPoolExecutor() as pool:
        new = tmp_path_factory.mktemp
        yield SimpleNamespace(
            slower=pool.submit(conversation, new("slower"), SLOWER, TIMER),
            cut=pool.submit(conversation, new("cut"), ABILITIES, AGAIN),
            demonstration=pool.submit(demonstration, new("demonstration")),
        )


def test_two_spoken_questions_are_answered_so_that_one_can_understand_and_the_second_slower(
    talks, tmp_path
):
    """And printed with the promised keys."""
    slower = talks.slower.result()
    assert [turn["heard"] for turn in slower.turns] == [SLOWER, TIMER]
    assert [turn["reply"] for turn in slower.turns] == [SLOWER_ANSWER, TIMER_ANSWER]
    for turn in slower.turns:
        assert as_spoken(turn["spoken"]) == as_spoken(turn["reply"])
        assert {"heard", "reply", "spoken", "times_ms"} <= turn.keys()
        assert list(turn["times_ms"]) == STAGES
        times = list(turn["times_ms"].values())
        assert times == sorted(times)
        assert times[0] > 0
        assert (turn["ending"], turn["underruns"]) == ("complete", 0)
    timers = (f"Timer set for {n} minutes." for n in (2, 3, 5, 10, 12, 15, 20, 22, 30, 45))
    ear = Ear(map(as_spoken, [SLOWER_ANSWER, "Speaking faster.", *timers]))
    assert len(slower.replies) == 2
    for number, turn in enumerate(slower.turns):
        assert slower.heard(number, ear) == as_spoken(turn["reply"])
    own_pace_s = seconds_of(TIMER_ANSWER, tmp_path)
    assert slower.seconds(1) > 1.15 * own_pace_s
    slow_s = seconds_of(TIMER_ANSWER, tmp_path, rate=3.3)
    assert slower.seconds(1) == pytest.approx(slow_s, abs=0.15)
    answered_s = slower.replies[0][0] - (HEAD_S + len(spoken(SLOWER)) / RATE)
    assert 0 < answered_s < REPLY_S


def test_speaking_cuts_the_reply_and_only_the_words_heard_are_remembered(talks, tmp_path):
    talk = talks.cut.result()
    first, second = talk.turns
    assert first["heard"] == ABILITIES
    assert first["ending"] == "interrupted by speech"
    whole_s = seconds_of(first["reply"], tmp_path)
    assert 0.5 < talk.seconds(0) < whole_s - 2
    # The reply to "say that again" is what the assistant remembers having said.
    assert second["heard"] == AGAIN
    remembered = second["reply"]
    assert first["reply"].startswith(remembered)
    assert 0 < len(remembered) < len(first["reply"])
    assert talk.seconds(0) == pytest.approx(seconds_of(remembered, tmp_path), abs=0.6)
    assert first["reply"][len(remembered)] in " .,:"  # whole words


def test_the_demonstration_asks_answers_and_leaves_both_recordings(talks):
    done, out = talks.demonstration.result()
    assert done.status == 0, done
    you, reply, times = done.out.splitlines()
    assert you.replace("metres", "meters") == f"you:    {MILES}"
    assert reply == f"rubato: {MILES_ANSWER}"
    assert times.strip().startswith("ms after the end of speech: transcript ")
    assert "reply.wav" in done.err
    pcm, rate = recording(out / "reply.wav")
    (said,) = stretches(pcm, rate, apart_s=APART_S)
    lengths = product((6, 15, 16, 60), (0, 9, 19, 90))
    ear = Ear(as_spoken(f"10 miles is about {m}.{cm:02d} kilometres.") for m, cm in lengths)
    assert ear.hear(between(pcm, rate, *said), rate) == as_spoken(MILES_ANSWER)
    assert stretches(*recording(out / "question.wav"))
