"""A fit: it lowers its loss, goes on where it was ended, and refuses a text that does not fit."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch

from engine.errors import InvalidInput
from engine.tts.kokoro.fit import learning
from engine.tts.kokoro.fit.checks import check_alignment
from engine.tts.kokoro.fit.decoder import inputs_of, load_decoder, timbre_of
from engine.tts.kokoro.fit.learning import FitState, Material, run
from engine.tts.kokoro.fit.measuring import Alignment, align
from engine.tts.kokoro.parts import FRAME, SAMPLE_RATE
from engine.tts.kokoro.voices import LEARNT, delivery_of, shift_of, style_of
from engine.tts.kokoro.windows import plan_natural
from tests.engine.tts.kokoro.small import TEXT, phoned, small, small_parts, small_style, small_voice

STYLE = small_style()


@pytest.fixture(scope="module")
def decoder():
    return load_decoder(small_parts().published)


@pytest.fixture(scope="module")
def material(decoder) -> Material:
    """The made-up voice in another timbre says TEXT."""
    speech = plan_natural(small_parts(), STYLE, phoned(), accent="en-us")
    decoder.set_shift(torch.zeros(len(decoder.norms), 128))
    inputs = inputs_of(small_parts().source, speech)
    with torch.no_grad():
        clip, before = (
            decoder(*inputs, timbre_of(style)).numpy() for style in (small_style(1), STYLE)
        )
    return Material(clip, before, speech, highest_hz=8_000.0)


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(learning, "_SIZE", 8)
    monkeypatch.setattr(learning, "STEPS", 6)
    monkeypatch.setattr(learning, "KEEP_EVERY", 2)


def begun(decoder) -> FitState:
    return FitState(STYLE, len(decoder.norms))


def test_the_steps_bring_it_nearer_to_the_clip(decoder, material, monkeypatch):
    monkeypatch.setattr(learning, "STEPS", 24)
    losses = list(run(decoder, small_parts().source, material, begun(decoder)))
    assert np.mean(losses[-6:]) < 0.95 * np.mean(losses[:6])


def test_a_fit_that_was_ended_goes_on_as_if_it_had_not_been(decoder, material):
    source = small_parts().source
    whole, ended, later = (begun(decoder) for _ in range(3))
    list(run(decoder, source, material, whole))
    list(islice(run(decoder, source, material, ended), 3))
    assert later.restore(ended.packed())
    assert later.step == 3
    assert len(list(run(decoder, source, material, later))) == 3
    assert torch.equal(later.moves, whole.moves)


@pytest.mark.parametrize("damage", ["short", "empty", "shape", "numbers"])
def test_a_damaged_checkpoint_begins_anew(decoder, material, damage):
    progress = begun(decoder)
    list(islice(run(decoder, small_parts().source, material, progress), 1))
    if damage == "numbers":
        progress.moves.data[0, 0] = torch.nan
    content = {
        "short": progress.packed()[:-9],
        "empty": b"",
        "shape": FitState(STYLE, 3).packed(),
    }.get(damage, progress.packed())
    fresh = begun(decoder)
    assert not fresh.restore(content)
    assert fresh.step == 0
    assert not fresh.moves.any()


def test_a_lesson_becomes_a_voice_and_leaves_a_checkpoint_of_its_owner(
    material, tmp_path, monkeypatch
):
    monkeypatch.setattr(learning, "check_alignment", lambda *_: None)  # this voice has no sounds
    model, checkpoint = small(), tmp_path / "voice.checkpoint"
    lesson = learning.Lesson(small_voice(), material.clip, SAMPLE_RATE, TEXT)
    shares: list[float] = []
    voice = model.learn(lesson, checkpoint, shares.append)
    assert shares == pytest.approx(np.arange(1, 7) / learning.STEPS)
    assert checkpoint.stat().st_mode & 0o777 == 0o600
    assert voice.metadata["making"] == LEARNT == model.info.learnt
    assert shift_of(voice).any()
    assert delivery_of(voice).taps is None  # the timbre has the colour
    assert np.array_equal(style_of(voice)[0, 128:], STYLE[0, 128:])
    again = model.learn(lesson, checkpoint, shares.append)
    assert len(shares) == 6  # all was done
    assert np.array_equal(shift_of(again), shift_of(voice))
    model.warm(voice)


def test_a_voice_is_learnt_from_the_recording_without_its_noise(material, tmp_path, monkeypatch):
    monkeypatch.setattr(learning, "check_alignment", lambda *_: None)  # this voice has no sounds
    clean = material.clip
    noisy = clean + np.random.default_rng(1).normal(0, 0.05, len(clean)).astype(np.float32)
    monkeypatch.setattr(learning, "denoised", lambda pcm, sample_rate: clean)
    shifts = []
    for number, clip in enumerate((clean, noisy)):
        lesson = learning.Lesson(small_voice(), clip, SAMPLE_RATE, TEXT)
        shifts.append(shift_of(small().learn(lesson, tmp_path / f"{number}", lambda _: None)))
    assert np.array_equal(*shifts)


def test_a_text_that_is_too_long_is_refused(tmp_path):
    lesson = learning.Lesson(
        small_voice(), np.ones(SAMPLE_RATE, np.float32), SAMPLE_RATE, "interesting " * 60
    )
    with pytest.raises(InvalidInput, match="too long"):
        small().learn(lesson, tmp_path / "no.checkpoint", print)


# ------------------------------------------------------------------------ alignment


def spoken(frames: np.ndarray, seed: int = 4) -> np.ndarray:
    """Noise in a colour of its own for each symbol."""
    draw = np.random.default_rng(seed)
    colours = np.random.default_rng(9).normal(0, 1, (len(frames), 24))
    pieces = [
        np.convolve(draw.normal(0, 0.1, FRAME * count + 23), colour, "valid")
        for count, colour in zip(frames, colours, strict=True)
    ]
    return np.concatenate(pieces).astype(np.float32)


def test_sounds_are_found_where_they_are_in_slower_speech():
    here = np.array([8, 6, 9, 5, 7, 8, 6])
    there = np.array([12, 10, 9, 9, 11, 6, 12])
    clip, said = spoken(there, seed=5), spoken(here)
    found = align(clip, said, here)
    assert found.frames.sum() == there.sum()
    # Kokoro's sounds are expected three frames early, in both alike.
    assert np.abs(np.cumsum(found.frames) - np.cumsum(there)).max() <= 4
    assert found.distance < align(spoken(there[::-1])[::-1].copy(), said, here).distance


def test_the_distance_of_a_right_text_is_negative_also_in_noise():
    frames = np.array([8, 6, 9, 5, 7, 8, 6])
    said, noise = spoken(frames), np.random.default_rng(7).normal(0, 0.2, FRAME * frames.sum())
    for clip in (spoken(frames, seed=5), spoken(frames, seed=5) + noise.astype(np.float32)):
        other = np.roll(clip, len(clip) // 3)
        right, wrong = (align(each, said, frames).distance for each in (clip, other))
        assert right < -0.05 < wrong


def test_a_text_with_more_symbols_than_the_clip_has_frames_is_refused():
    found = align(spoken(np.array([2, 2])), spoken(np.array([9] * 7)), np.array([9] * 7))
    with pytest.raises(InvalidInput, match="does not fit"):
        check_alignment(1.0, 1.0, found)


@pytest.mark.parametrize(
    ("seconds", "clip_s", "distance", "short", "fits"),
    [
        (8.0, 10.0, -0.1, 0.2, True),
        (3.0, 10.0, -0.1, 0.2, False),
        (18.0, 10.0, -0.1, 0.2, False),
        (8.0, 10.0, 0.0, 0.5, False),
        (8.0, 10.0, 0.0, 0.3, True),
        (8.0, 10.0, -0.05, 0.44, True),
    ],
)
def test_a_text_fits_by_its_length_and_its_alignment(seconds, clip_s, distance, short, fits):
    frames = np.where(np.arange(102) < 102 * short, 1, 5)
    found = Alignment(frames, distance)
    if fits:
        check_alignment(seconds, clip_s, found)
        return
    with pytest.raises(InvalidInput, match="does not fit"):
        check_alignment(seconds, clip_s, replace(found))


def test_another_text_recording_or_blend_is_another_lesson(material):
    lesson = learning.Lesson(small_voice(), material.clip, SAMPLE_RATE, TEXT)
    others = (
        replace(lesson, text="Yes."),
        replace(lesson, clip=material.before),
        replace(lesson, blend=small_voice(seed=1)),
    )
    assert len({lesson.digest, *(each.digest for each in others)}) == 4
    assert replace(lesson).digest == lesson.digest
