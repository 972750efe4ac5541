"""Samples of some frames of a plan with its silences, and complete sentences at the voice's own
pace, as needed by statistics and fits.

Invariant: a frame's samples do not depend on the window it is rendered in: the decoder gets as many
frames on both sides as its convolutions see (graph/decoder.py), and nothing is measured over the
window. So windows of any size join without a seam.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.text.phonemes import Espeak, PhonedWord, WordPhonemizer
from engine.tts.kokoro.durations import Frames, make_script
from engine.tts.kokoro.parts import EDGE, FINE_ROWS, FRAME, Floats, Parts, VoiceInputs
from engine.tts.kokoro.plan import NaturalSpeech, Plan
from engine.tts.kokoro.symbols import ids

_FADE: Final = 120  # samples at both sides of a silence, and at the end


def plan_natural(
    parts: Parts,
    style: Floats,
    words: Sequence[PhonedWord],
    *,
    accent: str,
    frames: Frames | None = None,
) -> NaturalSpeech:
    """Plan the words in a style [1, 256], with the voice's own durations or these `frames`."""
    script = make_script(words, [0.0] * len(words), closed=True, accent=accent)
    encoded = parts.encode(ids(script.text), style)
    if frames is None:
        frames = np.maximum(1, np.round(encoded.natural)).astype(np.int64)
    features, pitch, energy = parts.features(encoded, style, frames)
    curves, turns = parts.source.curves(pitch, energy), parts.source.turns(pitch)
    return NaturalSpeech(script, encoded, frames, features, pitch, energy, curves, turns)


def phoned(espeak: Espeak, text: str) -> list[PhonedWord]:
    """Return the words of a text with their phones."""
    phonemizer = WordPhonemizer(espeak)
    words = [ready for word in text.split() for ready in phonemizer.push(word)]
    return [*words, *phonemizer.finish()]


def render(
    parts: Parts, voice_inputs: VoiceInputs, plan: NaturalSpeech, first: int, last: int
) -> Floats:
    """Return the samples [FRAME * (last - first)] of the frames from `first` to `last`."""
    total = len(plan.features)

    def around(count: int, rows: int = 1) -> tuple[int, int]:
        """Return the ends of the window at `rows` a frame, with `count` rows on each side."""
        return max(0, rows * first - count), min(rows * total, rows * last + count)

    crops = []
    for rows, had, left in parts.layout["crops"]:
        begin, (low, high) = around(had, rows)[0], around(left, rows)
        crops.append((low - begin, high - begin + (rows == FINE_ROWS)))  # there one more
    of_features, of_spectrum, of_samples = parts.layout["seen"]
    coarse, noise = around(of_features), around(of_spectrum)
    samples = parts.decode(
        {
            **voice_inputs,
            "features": plan.features[None, slice(*coarse)],
            "curves": plan.curves[None, slice(*coarse)],
            "spectrum": parts.source.spectrum(plan.pitch, plan.turns, *noise)[None],
            "crops": np.array(crops, np.int64),
        }
    )
    row = around(of_samples, FINE_ROWS)[0]
    at = row * FRAME // FINE_ROWS + EDGE  # of the sentence, the first of the samples
    wanted = np.zeros(FRAME * (last - first), np.float32)
    low, high = max(at, FRAME * first), min(at + len(samples), FRAME * last)
    wanted[low - FRAME * first : high - FRAME * first] = samples[low - at : high - at]
    return wanted


def with_silences(
    plan: Plan, pcm: Floats, first: int, last: int
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Insert the plan's silences into the samples `pcm` of the frames from `first` to `last`.
    Return the samples, and the samples at which each frame starts (its silence comes after that)
    and the last one ends. `pcm` is faded in place.
    """
    places = FRAME * np.arange(last - first + 1)
    pieces, before = [], 0
    for frame, length in sorted(plan.silences.items()):
        at = FRAME * (frame - first)
        if first < frame <= last:
            faded_out(pcm[:at])
        if first <= frame < last:
            faded_in(pcm[at:])
            pieces += [pcm[before:at], np.zeros(FRAME * length, np.float32)]
            places[frame - first + 1 :] += FRAME * length
            before = at
    return np.concatenate([*pieces, pcm[before:]]), places


def faded_out(pcm: Floats) -> None:
    """Fade out the end of the samples, in place."""
    end = pcm[-_FADE:]
    end *= np.linspace(1, 0, len(end), dtype=np.float32)


def faded_in(pcm: Floats) -> None:
    """Fade in the beginning of the samples, in place."""
    begin = pcm[:_FADE]
    begin *= np.linspace(0, 1, len(begin), dtype=np.float32)
