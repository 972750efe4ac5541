"""A long text is spoken in passages: sentences that start again from the prompt."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from engine.tts.base import AudioFrame, Finished, Starved, Voice
from engine.tts.voxtream.config import NEVER
from engine.tts.voxtream.session import VoxtreamSession
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from tests.engine.tts.voxtream.small_model import rest, small, speak, until_starved

FIRST = ["Hello", "world,", "this", "is", "it."]
SECOND = ["Now", "the", "other", "one", "(really", "so!)"]
THIRD = ["And", "a", "last", "one."]
TEXT = [*FIRST, *SECOND, *THIRD]


@pytest.fixture(scope="module")
def short() -> VoxtreamSynthesiser:
    """Every sentence a passage of its own."""
    return passages_of(5)


def passages_of(frames: int) -> VoxtreamSynthesiser:
    made = small()
    generation = replace(made._parts.generation, passage_frames=frames)
    made._parts = replace(made._parts, generation=generation)
    return made


def samples(frames: Sequence[AudioFrame]) -> np.ndarray:
    return np.concatenate([frame.pcm for frame in frames])


def test_the_first_passage_is_what_its_sentence_alone_would_be(
    short: VoxtreamSynthesiser,
) -> None:
    voice = short.voices()[0]
    with short.open(voice, seed=3) as session:
        alone = speak(session, FIRST)
    with short.open(voice, seed=3) as session:
        long = speak(session, TEXT)
    assert np.array_equal(samples(alone), samples(long)[: len(samples(alone))])
    assert len(long) > len(alone)


def test_without_passages_a_text_is_one_piece(short: VoxtreamSynthesiser) -> None:
    said = []
    for model in (short, passages_of(NEVER)):
        with model.open(model.voices()[0], seed=3) as session:
            said.append(samples(speak(session, TEXT)))
    assert not np.array_equal(said[0][: len(said[1])], said[1][: len(said[0])])


def test_a_passage_ends_only_at_a_sentences_end(short: VoxtreamSynthesiser) -> None:
    with short.open(short.voices()[0], seed=3) as session:
        assert passages(session, TEXT) == [len(FIRST), len(FIRST) + len(SECOND)]
    with short.open(short.voices()[0], seed=3) as session:
        assert passages(session, [word.strip(".!)") + "," for word in TEXT]) == []


def passages(session: VoxtreamSession, words: list[str]) -> list[int]:
    """The words that begin a new passage."""
    for word in words:
        session.push_word(word)
    session.end_input()
    begun, script = [], session._script
    while isinstance(session.step(), AudioFrame):
        if session._script is not script:
            script = session._script
            begun.append(script.places._first_word)
    return begun


def test_between_passages_a_session_waits_for_words_and_keeps_its_rate(
    short: VoxtreamSynthesiser, voice: Voice
) -> None:
    with short.open(voice, seed=3) as session:
        session.rate = 4.0
        for word in FIRST:
            session.push_word(word)
        said = until_starved(session)
        assert said[-1].rate is not None
        assert isinstance(session.step(), Starved)
        session.push_word("More", 0.8)
        session.push_word("words")
        session.end_input()
        more = rest(session)
        assert more[0].rate is not None  # measured over the passages' border
        assert isinstance(session.step(), Finished)


def test_an_end_without_more_words_ends_the_utterance(short: VoxtreamSynthesiser) -> None:
    with short.open(short.voices()[0], seed=3) as session:
        for word in FIRST:
            session.push_word(word)
        until_starved(session)
        session.end_input()
        assert rest(session) == []
