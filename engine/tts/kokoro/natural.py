"""A complete sentence at the voice's own pace, as needed by statistics and fits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from engine.text.phonemes import Espeak, PhonedWord, WordPhonemizer
from engine.tts.kokoro.durations import Frames, KokoroScript, make_script
from engine.tts.kokoro.parts import EncodedText, Floats, Parts
from engine.tts.kokoro.plan import EARLY
from engine.tts.kokoro.symbols import ids


@dataclass(frozen=True)
class NaturalSpeech:
    """A planned sentence: features [T, C], pitch in Hz and energy [2 T], and the `frames` of its
    symbols and both edges. windows.render() makes samples of it.
    """

    script: KokoroScript
    encoded: EncodedText
    frames: Frames
    features: Floats
    pitch: Floats
    energy: Floats
    curves: Floats
    turns: npt.NDArray[np.float64]

    @property
    def edges(self) -> Frames:
        """Frames at which the symbols' sounds begin, and the end of the last one."""
        return np.maximum(0, np.cumsum(self.frames)[:-1] - EARLY)

    def with_curves(self, parts: Parts, pitch: Floats, energy: Floats) -> Self:
        """Return the same sounds with another pitch and energy."""
        source = parts.source
        curves, turns = source.curves(pitch, energy), source.turns(pitch)
        return replace(self, pitch=pitch, energy=energy, curves=curves, turns=turns)


def plan_natural(
    parts: Parts,
    style: Floats,
    words: Sequence[PhonedWord],
    *,
    accent: str,
    frames_of: Callable[[EncodedText], Frames] | None = None,
) -> NaturalSpeech:
    """Plan the words in a style [1, 256]. `frames_of` returns other durations than the
    voice's own.
    """
    script = make_script(words, [0.0] * len(words), closed=True, accent=accent)
    encoded = parts.encode(ids(script.text), style)
    frames = (frames_of or _rounded)(encoded)
    features, pitch, energy = parts.features(encoded, style, frames)
    curves, turns = parts.source.curves(pitch, energy), parts.source.turns(pitch)
    return NaturalSpeech(script, encoded, frames, features, pitch, energy, curves, turns)


def phoned(espeak: Espeak, text: str) -> list[PhonedWord]:
    """Return the words of a text with their phones."""
    phonemizer = WordPhonemizer(espeak)
    words = [ready for word in text.split() for ready in phonemizer.push(word)]
    return [*words, *phonemizer.finish()]


def _rounded(encoded: EncodedText) -> Frames:
    return np.maximum(1, np.round(encoded.natural)).astype(np.int64)
