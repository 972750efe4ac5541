"""Teaching, with people who whistle: each letter is a tone."""

import random

import numpy as np
import pytest

from engine.asr.base import SAMPLE_RATE
from engine.asr.wake import training
from engine.asr.wake.trained_spotter import Head
from engine.asr.wake.training import Say, other_talk, teach
from engine.audio.base import Pcm
from tests.engine.asr.wake.hearing import FakeEmbedding

PHRASE = "hey rubato"


def whistler(pitch: float) -> Say:
    def say(text: str, rate: float) -> Pcm:
        count = int(SAMPLE_RATE * 0.4 / rate)
        letters = [250 + 90 * (ord(letter) - ord("a")) for letter in text if letter.isalpha()]
        times = np.arange(count) / SAMPLE_RATE
        return np.concatenate(
            [np.sin(2 * np.pi * pitch * hertz * times) for hertz in letters]
        ).astype(np.float32)

    return say


def score(head: Head, pcm: Pcm) -> float:
    """The highest while this is heard."""
    return float(np.max(head.scores(FakeEmbedding().push(np.pad(0.1 * pcm, SAMPLE_RATE // 2)))))


def test_a_strangers_call_is_told_from_other_talk(monkeypatch: pytest.MonkeyPatch) -> None:
    little = {"STEPS": 120, "THROATS": (1.0,), "WORDS": (2, 4), "BESIDE": 8}
    for name, value in {**little, "CALL_ROOMS": 1, "TALK_ROOMS": 1}.items():
        monkeypatch.setattr(training, name, value)
    shares: list[float] = []
    head = teach(PHRASE, [whistler(0.97), whistler(1.03)], FakeEmbedding(), shares.append)
    assert shares == sorted(set(shares))
    assert len(shares) == 2 * (len(training.RATES) + 8)
    assert shares[-1] < 1
    stranger = whistler(1.0)
    calls = [score(head, stranger(PHRASE, rate)) for rate in (3.6, 4.4, 5.2)]
    talk = [score(head, stranger(text, 4.4)) for text in other_talk(PHRASE, 10, random.Random(2))]
    assert np.mean(calls) > np.mean(talk) + 1.0
    monkeypatch.setattr(training, "STEPS", 3)  # the same training gives the same
    monkeypatch.setattr(training, "BESIDE", 1)
    one, other = (teach(PHRASE, [whistler(1.0)], FakeEmbedding()) for _ in range(2))
    assert np.array_equal(one.first, other.first)
    assert one.second_bias == other.second_bias


def test_other_talk_has_parts_of_the_phrase_and_never_all_of_it() -> None:
    talk = list(other_talk(PHRASE, 200, random.Random(1)))
    assert not any(PHRASE in text for text in talk)
    for part in PHRASE.split():
        assert sum(part in text for text in talk) > 20
