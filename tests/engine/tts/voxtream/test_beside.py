"""A second thread makes frames sooner and changes none."""

from typing import Any

import numpy as np
import pytest
import torch

from engine.nn.pending import Pending
from engine.tts.base import AudioFrame, Finished, Starved
from engine.tts.voxtream.config import INT8
from engine.tts.voxtream.session import VoxtreamSession
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from tests.engine.tts.utterances import push
from tests.engine.tts.voxtream.small_model import SMALL, small

WORDS = ["Two", "cores", "share", "the", "work,", "and", "nobody", "hears", "it."]


@pytest.fixture(scope="module")
def two_threads() -> VoxtreamSynthesiser:
    return small(INT8, threads=2)


def heard(session: VoxtreamSession, words: list[str]) -> np.ndarray:
    """Samples when each word comes only once it is asked for, the rate changing on the way."""
    waiting, frames = iter(words), []
    while not isinstance(step := session.step(), Finished):
        if isinstance(step, Starved):
            word = next(waiting, None)
            session.end_input() if word is None else session.push_word(word)
        else:
            frames.append(step.pcm)
            session.rate = 2.0 + len(frames) % 5
    return np.concatenate(frames)


def test_it_sounds_as_on_one_thread(two_threads, voice):
    with small(INT8).open(voice, seed=3) as session:
        expected = heard(session, WORDS)
    with two_threads.open(voice, seed=3) as session:
        assert np.array_equal(heard(session, WORDS), expected)


def test_closing_waits_for_the_frame_begun_on(two_threads, voice, monkeypatch):
    settled: list[str] = []
    begun = Pending(lambda: torch.zeros(2, SMALL.width), lambda: settled.append("settled"))
    monkeypatch.setattr(two_threads._parts.model, "start", lambda *arguments: begun)
    with two_threads.open(voice, seed=3) as session:
        push(session, WORDS, ended=False)
        while not session._begun:
            assert isinstance(session.step(), AudioFrame)
        assert settled == []
    assert settled == ["settled"]


def test_a_fault_of_the_second_thread_is_raised_by_the_step_and_the_session_can_be_closed(
    two_threads, voice, monkeypatch
):
    def fail(*arguments: object) -> Pending[Any]:
        raise RuntimeError("the worker found no memory")

    with monkeypatch.context() as patch:
        patch.setattr(two_threads._parts.model, "start", lambda *_: Pending(fail, lambda: None))
        with two_threads.open(voice, seed=3) as session:
            push(session, WORDS, ended=False)
            with pytest.raises(RuntimeError, match="no memory"):
                session.step()
    with two_threads.open(voice, seed=3) as session:
        push(session, WORDS, ended=False)
        assert isinstance(session.step(), AudioFrame)
