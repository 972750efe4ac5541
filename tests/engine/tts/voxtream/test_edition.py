"""What the published editions differ in."""

import math
from dataclasses import replace

import pytest

from engine.tts.speaker.recording import making
from engine.tts.voxtream.edition import EDITIONS
from engine.tts.voxtream.files.place import VOXTREAM2, VOXTREAM2_1

NEW, OLD = EDITIONS[VOXTREAM2_1], EDITIONS[VOXTREAM2]


def test_the_guidance_of_the_new_edition_is_two_and_a_half_times_as_strong() -> None:
    assert OLD.generation.pull_scale == pytest.approx(1 / math.log(10))
    assert NEW.generation.pull_scale == pytest.approx(1 / 0.9)
    cooler = NEW.tempered(replace(NEW.generation, temperature=0.5))
    assert cooler.generation.pull_scale == pytest.approx(2.0)
    same = OLD.tempered(replace(OLD.generation, temperature=0.5))
    assert same.generation.pull_scale == OLD.generation.pull_scale


def test_voices_of_the_two_editions_are_made_differently() -> None:
    assert (OLD.loudness, NEW.loudness) == (None, -23.0)
    assert making(OLD.loudness) != making(NEW.loudness) == "3 at -23 LUFS"
