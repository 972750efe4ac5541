"""Kokoro's voices: names, styles, mixtures, and a person's delivery."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.errors import InvalidInput, ModelError
from engine.languages import SPOKEN
from engine.tts.base import Voice
from engine.tts.kokoro.voices import (
    AS_IT_IS,
    ENGLISH_NAMES,
    FILES,
    LANGUAGES,
    NAME,
    NAMES,
    SHIFT,
    SLOWNESS,
    SPREADS,
    STYLE,
    TAPS,
    Delivery,
    accent_of,
    blend,
    delivery_of,
    fetched,
    read_voices,
    shift_of,
    style_of,
)
from tests.engine.tts import laws
from tests.engine.tts.kokoro.small import small, small_learnt_voice, small_voice

TAPS_USED = np.exp(-np.arange(TAPS) / 30).astype(np.float32)
DELIVERY = Delivery(0.5, 0.9, 1.1, TAPS_USED)

ROWS, WIDTH = 510, 256


def test_voiced_pitch_moves_to_its_middle_and_spread_and_unvoiced_stays():
    pitch = np.array([0, 20, 100, 200], np.float32)
    moved = DELIVERY.pitched(pitch)
    assert moved[:2].tolist() == [0, 20]
    assert np.log(moved[2:]) == pytest.approx(0.5 + 0.9 * np.log(pitch[2:]), abs=1e-5)
    assert AS_IT_IS.pitched(pitch) is pitch


@pytest.mark.parametrize("offset", [-4.0, 4.0])
def test_no_voice_speaks_higher_or_lower_than_people_do(offset):
    moved = replace(DELIVERY, offset=offset).pitched(np.array([60, 400], np.float32))
    assert 50 < moved.min() <= moved.max() <= 600


@pytest.mark.parametrize("cuts", [[700], [600, 1300, 2600], [1200, 1800, 2400, 3100]])
def test_pieces_are_coloured_as_the_whole_is(cuts):
    pcm = np.random.default_rng(1).normal(0, 0.1, 4000).astype(np.float32)
    expected = np.convolve(pcm, TAPS_USED)[: len(pcm)]
    ends = [0, *cuts, len(pcm)]
    pieces = [
        DELIVERY.coloured(pcm[a:b], pcm[max(0, a - 600) : a]) for a, b in itertools.pairwise(ends)
    ]
    whole = DELIVERY.coloured(pcm, pcm[:0])
    assert np.array_equal(np.concatenate(pieces), whole)
    assert whole == pytest.approx(expected, abs=1e-5)


def test_it_is_read_as_it_was_written():
    read = Delivery.of_tensors(DELIVERY.tensors())
    assert np.array_equal(read.taps, DELIVERY.taps)
    assert (read.offset, read.slowness) == pytest.approx((0.5, 1.1))
    assert Delivery.of_tensors({}) == AS_IT_IS
    for slowest, spread in zip(SLOWNESS, SPREADS, strict=True):
        widest = Delivery(1.0, spread, slowest)
        assert Delivery.of_tensors(widest.tensors()).slowness == pytest.approx(slowest)


def test_a_mixture_lies_between_what_its_voices_learnt():
    stock, learnt = small_voice(), small_learnt_voice()
    mixed = blend("Mixed", ((stock, 1.0), (learnt, 3.0)))
    assert shift_of(mixed) == pytest.approx(0.75 * shift_of(learnt))
    found, own = delivery_of(mixed), delivery_of(learnt)
    assert found.offset == pytest.approx(0.75 * own.offset)
    assert found.spread == pytest.approx(0.25 + 0.75 * own.spread)
    assert found.taps[1:] == pytest.approx(0.75 * own.taps[1:])
    assert set(blend("Stock", ((stock, 1.0), (stock, 1.0))).tensors) == {STYLE}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("pitch offset", [9.0]),
        ("pitch offset", [np.nan]),
        ("pitch offset", [1, 2]),
        ("pitch spread", [0.0]),
        ("pitch spread", [2.0]),
        ("slowness", [5.0]),
        ("slowness", [np.inf]),
        ("equaliser", np.ones(TAPS + 1)),
        ("equaliser", np.full(TAPS, 9.0)),
        ("equaliser", np.full(TAPS, np.nan)),
        (SHIFT, np.zeros((57, 128))),
        (SHIFT, np.zeros(58 * 128)),
        (SHIFT, np.full((58, 128), 1.0)),
        (SHIFT, np.full((58, 128), np.nan)),
        (SHIFT, np.zeros((58, 128), np.int32)),
    ],
)
def test_a_file_with_numbers_out_of_bounds_is_refused(name, values):
    if getattr(values, "dtype", None) != np.int32:  # which is refused as whole numbers
        values = np.asarray(values, np.float32)
    tensors = {**small_voice().tensors, name: values}
    with pytest.raises(InvalidInput, match="Small 0"):
        shift_of(voice := replace(small_voice(), tensors=tensors)), delivery_of(voice)


def test_a_learnt_voice_is_another_sound_and_slower_only_without_a_rate():
    stock, learnt = small(), small(voice=small_learnt_voice())
    words = [["We", "will", "meet", "at", "seven."]]
    own, own_learnt = (laws.say(model, words).pcm for model in (stock, learnt))
    assert len(own_learnt) > 1.05 * len(own)
    at_rate, learnt_at_rate = (laws.say(model, words, rate=4.0).pcm for model in (stock, learnt))
    assert len(learnt_at_rate) == pytest.approx(len(at_rate), rel=0.03)
    assert not np.array_equal(at_rate[:8000], learnt_at_rate[:8000])


@pytest.fixture
def folder(tmp_path) -> Path:
    """Files like the published ones, each with its number in every style, and its row in one."""
    for number, name in enumerate(NAMES):
        styles = np.full((ROWS, WIDTH), 0.1 + number / 400, "<f4")
        styles[:, 0] = np.arange(ROWS) / 100
        styles.tofile(tmp_path / f"{FILES[name]}.bin")
    return tmp_path


PEOPLE = {
    "en-us": "American", "en-gb": "British", "es": "Spanish", "it": "Italian",
    "pt-br": "Brazilian", "fr-fr": "French",
}  # fmt: skip


def test_all_voices_are_read(folder):
    voices = read_voices(folder)
    assert len(voices) == len({voice.name.casefold() for voice in voices}) == 37
    assert tuple(voice.name for voice in voices) == NAMES == fetched(folder)
    assert sum(accent_of(voice) == "en-gb" for voice in voices) == 8
    assert voices[0].name == "Heart"
    for voice in voices:
        accent = accent_of(voice)
        assert voice.metadata["description"].startswith(PEOPLE[accent])
        assert style_of(voice).shape == (1, WIDTH)
        assert voice.language == LANGUAGES.get(voice.name, "en")
        assert accent in ("en-gb", SPOKEN[voice.language].espeak)
    assert {voice.language for voice in voices} == set(SPOKEN)
    assert len({float(style_of(voice)[0, 1]) for voice in voices}) == 37
    rows = {voice.language: round(100 * float(style_of(voice)[0, 0])) for voice in voices}
    assert rows == {"en": 60, "es": 60, "it": 250, "pt": 60, "fr": 60}


def test_an_older_fetch_without_other_languages_goes_on_speaking_english(folder):
    for name in LANGUAGES:
        (folder / f"{FILES[name]}.bin").unlink()
    assert tuple(voice.name for voice in read_voices(folder)) == ENGLISH_NAMES == fetched(folder)


def test_a_voice_of_an_unknown_language_is_english():
    voice = Voice("Nobody", NAME, metadata={"language": "tlh"})
    assert (accent_of(voice), voice.language) == ("en-us", "en")


def test_a_mixture_has_the_language_of_its_largest_part(folder):
    known = {voice.name: voice for voice in read_voices(folder)}
    mixture = blend("Both", ((known["Dora"], 0.6), (known["Noel"], 0.4)))
    assert (accent_of(mixture), mixture.language) == ("es", "es")


@pytest.mark.parametrize("damage", ["gone", "short", "long", "not a number", "huge"])
def test_a_damaged_file_is_refused_by_name(folder, damage):
    file = folder / "bf_emma.bin"
    styles = np.fromfile(file, "<f4")
    if damage == "gone":
        file.unlink()
    elif damage == "short":
        styles[:-1].tofile(file)
    elif damage == "long":
        np.append(styles, np.float32(0)).tofile(file)
    else:
        styles[77] = np.nan if damage == "not a number" else 1e9
        styles.tofile(file)
    with pytest.raises(ModelError, match=r"bf_emma\.bin") as refusal:
        read_voices(folder)
    assert "models get kokoro" in (refusal.value.hint or "")


@pytest.mark.parametrize(
    "style",
    [
        None,
        np.zeros(255),
        np.zeros(256),
        np.full(256, np.nan),
        np.full(256, 1.8),  # ten times as large as a speaker's
        np.full(256, np.inf),
        np.repeat([0.18, 0.0], 128),
    ],
)
def test_a_voice_without_a_style_is_refused(style):
    tensors = {} if style is None else {STYLE: style.astype(np.float32)}
    with pytest.raises(InvalidInput, match="Nobody"):
        style_of(Voice("Nobody", NAME, tensors, {}))
