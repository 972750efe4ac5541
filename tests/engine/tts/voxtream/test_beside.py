"""A second thread makes frames sooner and changes none."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from engine.nn.pending import Pending
from engine.tts.base import AudioFrame, Finished, Starved, Voice
from engine.tts.voxtream.config import INT8
from engine.tts.voxtream.session import VoxtreamSession
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser, load_random
from tests.engine.tts.voxtream.small_model import SMALL, TARGET, small, small_mimi

WORDS = ["Two", "cores", "share", "the", "work,", "and", "nobody", "hears", "it."]


@pytest.fixture(scope="module")
def two_threads() -> VoxtreamSynthesiser:
    target = replace(TARGET, threads=2)
    return load_random(1, config=SMALL, profile=INT8, target=target, mimi=small_mimi())


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


def test_word_by_word_and_at_once_sound_as_on_one_thread(
    two_threads: VoxtreamSynthesiser, voice: Voice
) -> None:
    with small(INT8).open(voice, seed=3) as session:
        expected = heard(session, WORDS)
    with two_threads.open(voice, seed=3) as session:
        assert np.array_equal(heard(session, WORDS), expected)
    with two_threads.open(voice, seed=3) as session:
        for word in WORDS:
            session.push_word(word)
        assert np.array_equal(heard(session, []), expected)


def test_sessions_stepped_in_turn_do_not_disturb_each_other(
    two_threads: VoxtreamSynthesiser, voice: Voice
) -> None:
    with two_threads.open(voice, seed=3) as alone:
        expected = firsts(alone, 6)
    with two_threads.open(voice, seed=3) as one, two_threads.open(voice, seed=3) as other:
        for word in WORDS:
            one.push_word(word)
            other.push_word(word)
        for pcm in expected:
            for session in (one, other):
                step = session.step()
                assert isinstance(step, AudioFrame)
                assert np.array_equal(step.pcm, pcm)


def firsts(session: VoxtreamSession, count: int) -> list[np.ndarray]:
    for word in WORDS:
        session.push_word(word)
    frames = [session.step() for _ in range(count)]
    return [frame.pcm for frame in frames if isinstance(frame, AudioFrame)]


def watched(model: Any, monkeypatch: pytest.MonkeyPatch, wait: Callable[[], Any]) -> list[str]:
    """Replaces what temporal steps give; the list gets a line for each that is given up."""
    settled: list[str] = []
    made = Pending(wait, lambda: settled.append("settled"))
    monkeypatch.setattr(model, "start", lambda *arguments: made)
    return settled


def test_closing_waits_for_the_frame_begun_on(
    two_threads: VoxtreamSynthesiser, voice: Voice, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = two_threads._parts.model
    hidden = torch.zeros(2, SMALL.width)
    settled = watched(model, monkeypatch, lambda: hidden)
    with two_threads.open(voice, seed=3) as session:
        for word in WORDS:
            session.push_word(word)
        while not session._begun:
            assert isinstance(session.step(), AudioFrame)
        assert settled == []
    assert settled == ["settled"]


def test_a_fault_of_the_second_thread_is_raised_by_the_step_and_the_session_can_be_closed(
    two_threads: VoxtreamSynthesiser, voice: Voice, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> Any:
        raise RuntimeError("the worker found no memory")

    with monkeypatch.context() as patch:
        watched(two_threads._parts.model, patch, fail)
        with two_threads.open(voice, seed=3) as session:
            for word in WORDS:
                session.push_word(word)
            with pytest.raises(RuntimeError, match="no memory"):
                session.step()
    with two_threads.open(voice, seed=3) as session:
        assert len(firsts(session, 2)) == 2
