"""A long text is spoken in passages: sentences that start again from the prompt."""

import numpy as np
import pytest

from engine.tts.base import Finished, Starved
from engine.tts.voxtream.config import NEVER
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from tests.engine.tts.utterances import assert_same, drain, push, say
from tests.engine.tts.voxtream.small_model import small

FIRST = ["Hello", "world,", "this", "is", "it."]
TEXT = [*FIRST, "Now", "(really", "so!)", "A", "last", "one."]


@pytest.fixture(scope="module")
def short() -> VoxtreamSynthesiser:
    """Every sentence a passage of its own."""
    return small(passage_frames=5)


def test_the_first_passage_is_its_sentence_alone(short):
    alone, long = (say(short, [words], seed=3).pcm for words in (FIRST, TEXT))
    one_piece = say(small(passage_frames=NEVER), [TEXT], seed=3).pcm
    assert len(alone) < len(long)
    assert np.array_equal(alone, long[: len(alone)])
    assert not np.array_equal(one_piece[: len(long)], long[: len(one_piece)])


def test_without_a_sentences_end_there_is_one_passage(short):
    commas = [word.strip(".!)") + "," for word in TEXT]
    one_piece = say(small(passage_frames=NEVER), [commas], seed=3)
    assert_same(say(short, [commas], seed=3), one_piece)


def test_between_passages_it_waits_and_keeps_its_rate(short, voice):
    with short.open(voice, seed=3) as session:
        session.rate = 4.0
        push(session, FIRST, ended=False)
        assert drain(session)[-1].rate is not None
        assert isinstance(session.step(), Starved)
        session.push_word("More", 0.8)
        push(session, ["words"])
        assert drain(session)[0].rate is not None  # measured over the passages' border
        assert isinstance(session.step(), Finished)
