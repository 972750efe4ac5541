"""Somebody is noticed within a few blocks; echoes and noise, once known, are not."""

from copy import deepcopy
from functools import cache

import numpy as np
import pytest

from engine.audio.base import Pcm
from engine.audio.echo.canceller import BLOCK, DoubleTalk, Split

SECOND = 100  # blocks


def noise(blocks: int, level: float, seed: int) -> Pcm:
    pcm = level * np.random.default_rng(seed).standard_normal((blocks, BLOCK))
    return pcm.astype(np.float32)


def syllables(blocks: int) -> Pcm:
    """Loudness that rises and falls four times a second, [block, 1]."""
    rising: Pcm = (0.05 + np.abs(np.sin(np.arange(blocks) * np.pi / 25)))[:, None]
    return rising.astype(np.float32)


def heard(detector: DoubleTalk, residual: Pcm, echo: Pcm) -> list[bool]:
    """Block by block."""
    found = []
    for left, taken in zip(residual, echo, strict=True):
        detector.push(Split(left, taken))
        found.append(detector.heard)
    return found


def room(seconds: int, seed: int = 1) -> tuple[Pcm, Pcm]:
    """(residual, echo) of a reply whose rest is 15 dB below it, in steady noise."""
    blocks = seconds * SECOND
    shape = syllables(blocks)
    echo = noise(blocks, 0.05, seed) * shape
    left = noise(blocks, 0.009, seed + 1) * shape + noise(blocks, 0.001, seed + 2)
    return left, echo


@cache
def _accustomed() -> DoubleTalk:
    detector = DoubleTalk()
    heard(detector, *room(5))
    return detector


def at_home() -> DoubleTalk:
    """One that knows the room."""
    return deepcopy(_accustomed())


def hiss() -> Pcm:
    """An "s", which fills few bands."""
    spectrum = np.fft.rfft(noise(SECOND, 0.05, seed=62).ravel())
    spectrum[np.fft.rfftfreq(SECOND * BLOCK, 1 / 16_000) < 4500] = 0
    return np.fft.irfft(spectrum).astype(np.float32).reshape(SECOND, BLOCK)


@pytest.mark.parametrize(
    ("person", "within"),
    [pytest.param(noise(SECOND, 0.05, 21), 5, id="words"), pytest.param(hiss(), 8, id="a hiss")],
)
def test_a_person_is_noticed_within_so_many_blocks(person, within):
    left, echo = room(1, seed=11)
    assert any(heard(at_home(), left + person, echo)[:within])


def test_what_the_filter_usually_leaves_is_nobody():
    found = heard(DoubleTalk(), *room(20))
    assert not any(found[3 * SECOND :])


def test_a_person_is_noticed_in_a_silence_of_the_reply():
    detector = at_home()
    nothing = noise(SECOND, 0.001, seed=31)
    assert not any(heard(detector, nothing, np.zeros_like(nothing))[50:])
    person = noise(SECOND, 0.01, seed=32)
    assert any(heard(detector, person, np.zeros_like(person))[:5])


def test_a_click_and_what_an_onset_of_the_echo_leaves_for_three_blocks_are_nobody():
    left, echo = room(1, seed=41)
    left[50] += noise(1, 0.05, seed=42)[0]
    assert not any(heard(at_home(), left, echo))
    for seed in range(71, 79):
        left, echo = room(1, seed=seed)
        left[60:63] *= 4
        assert not any(heard(at_home(), left, echo))


def test_a_room_that_rings_more_than_it_did_is_nobody_after_a_while():
    left, echo = room(10, seed=51)
    found = heard(at_home(), 3 * left, echo)
    assert not any(found[5 * SECOND :])


@pytest.mark.parametrize(("before", "silent_s"), [(0, 5), (5, 50)])
def test_a_long_digital_silence_makes_no_number_overflow_and_nobody_deaf(before, silent_s):
    """What was predicted of an echo fades by itself, to less than a number can hold in 44 s."""
    detector = DoubleTalk()
    heard(detector, *room(before))
    silence = np.zeros((silent_s * SECOND, BLOCK), np.float32)
    assert not any(heard(detector, silence, silence))
    loud = noise(SECOND, 0.3, seed=81)
    heard(detector, loud, np.zeros_like(loud))
    heard(detector, *room(10, seed=83))
    left, echo = room(1, seed=85)
    person = noise(SECOND, 0.05, seed=87)
    assert any(heard(detector, left + person, echo)[:6])
