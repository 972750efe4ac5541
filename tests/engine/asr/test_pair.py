"""Whisper with a quick first look beside it: who is believed, and what is on screen meanwhile."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from engine.asr.base import SAMPLE_RATE, Transcript
from engine.asr.pair import FIRST_SAMPLES, QUICK_SAMPLES, PairedRecognition
from tests.engine.asr.conftest import CASES

STOP = Transcript("stop", 0.97, "sphinx")
SENTENCE = Transcript("Stop the press.", 0.9, "whisper")
PHRASES = ("quieter please", "what is seven plus eleven")


@dataclass
class Careful:
    shown: str = ""
    samples: int = 0
    closed: bool = False
    interims: int = 0
    says: str = SENTENCE.text
    language: str = ""

    def push(self, pcm: np.ndarray) -> None:
        self.samples += len(pcm)

    def partial(self) -> str:
        self.shown = self.shown or "stop the"
        return self.shown

    def peek(self) -> str:
        return self.shown

    def interim(self, wanted: Callable[[], bool]) -> Transcript | None:
        self.interims += 1
        return self.overlapping() if wanted() else None

    def overlapping(self) -> Transcript:
        return replace(SENTENCE, text=self.says, language=self.language)

    def close(self) -> None:
        self.closed = True


@dataclass
class Quick:
    surely: Transcript | None = STOP  # what it takes a short utterance for
    nod: Transcript | None = None
    samples: int = 0
    closed: bool = False
    hears: list[str] = field(default_factory=lambda: ["stop"])

    def push(self, pcm: np.ndarray) -> None:
        self.samples += len(pcm)

    def peek(self) -> str:
        return self.hears[0]

    def command(self, wanted: Callable[[], bool]) -> Transcript | None:
        return self.surely

    def phrase(self, wanted: Callable[[], bool]) -> Transcript | None:
        return replace(STOP, text=self.hears[-1]) if wanted() else None

    def expects(self, words: list[str]) -> bool:
        return " ".join(words) in PHRASES

    def interjection(self) -> Transcript | None:
        return self.nod

    def close(self) -> None:
        self.closed = True


def pair(careful: Careful, quick: Quick) -> PairedRecognition:
    recognition = PairedRecognition(careful, quick)
    recognition.push(np.zeros(SAMPLE_RATE // 2, np.float32))
    return recognition


@pytest.mark.parametrize(("shown", "believed"), [("", STOP), ("Stock", SENTENCE), (" Stop.", STOP)])
def test_a_sure_command_needs_no_second_look_unless_something_else_was_shown(shown, believed):
    careful = Careful(shown=shown)
    assert pair(careful, Quick()).interim(lambda: True) == believed
    assert careful.interims == (believed is SENTENCE)


def test_what_is_no_sure_command_is_heard_carefully():
    recognition = pair(Careful(), Quick(surely=None))
    assert recognition.interim(lambda: True) == SENTENCE
    assert recognition.interim(lambda: False) is None
    assert recognition.finish() == SENTENCE


def test_the_quick_words_are_weighed_and_not_shown():
    recognition = pair(Careful(), Quick())
    assert (recognition.peek(), recognition.partial()) == ("stop", "")
    recognition.push(np.zeros(FIRST_SAMPLES, np.float32))
    assert (recognition.peek(), recognition.partial()) == ("stop", "stop the")


def test_a_nod_into_a_reply_is_heard_by_the_one_who_knows_nods():
    nod = Transcript("mhm", 0.8, "sphinx")
    assert pair(Careful(), Quick(nod=nod)).overlapping() == nod
    assert pair(Careful(), Quick()).overlapping() == STOP
    assert pair(Careful(), Quick(surely=None)).overlapping() == SENTENCE


def test_a_long_utterance_is_heard_by_one_alone_and_closing_throws_both_away():
    careful, quick = Careful(shown="so I said"), Quick()
    recognition = pair(careful, quick)
    recognition.push(np.zeros(QUICK_SAMPLES, np.float32))
    assert quick.closed
    assert quick.samples < careful.samples
    assert recognition.peek() == "so I said"
    assert recognition.interim(lambda: True) == recognition.overlapping() == SENTENCE
    recognition.close()
    assert careful.closed


@pytest.mark.parametrize(("careful", "peek", "phrase", "is_believed"), CASES["sounds_alike"])
def test_a_skills_sentence_is_believed_where_it_sounds_the_same(careful, peek, phrase, is_believed):
    recognition = pair(Careful(says=careful), Quick(surely=None, hears=[peek, phrase]))
    heard = recognition.interim(lambda: True)
    assert heard == replace(SENTENCE, text=phrase if is_believed else careful)
    assert recognition.overlapping().text == careful  # into a reply people say other things


def test_what_is_said_in_another_language_or_nobody_wants_is_not_compared():
    quick = Quick(surely=None, hears=["quieter please"])
    foreign = pair(Careful(says="Quiet, or please.", language="fr"), quick)
    assert foreign.finish().text == "Quiet, or please."
    wanted = iter([True])  # by Whisper
    recognition = pair(Careful(says="Quiet, or please."), quick)
    assert recognition.interim(lambda: next(wanted, False)) is None
