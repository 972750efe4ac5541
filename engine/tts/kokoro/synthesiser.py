"""Kokoro as a TtsModel.

Invariant: weights are loaded once and never change; sessions share no state that changes.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from engine.languages import ENGLISH
from engine.settings import SpeechSettings
from engine.text.phonemes import Espeak
from engine.translatable import Progress, Translatable
from engine.tts.base import Pcm, TtsInfo, Voice
from engine.tts.kokoro.parts import SAMPLE_RATE, Parts, load_parts
from engine.tts.kokoro.plan import Speaker
from engine.tts.kokoro.session import RATE_RANGE, KokoroSession, VoiceParts
from engine.tts.kokoro.statistics import sentences_in, statistics
from engine.tts.kokoro.voices import (
    LEARNT,
    MAKING,
    NAME,
    accent_of,
    delivery_of,
    is_fetched,
    model_file,
    read_voices,
    shift_of,
    style_of,
    voices_folder,
)
from engine.tts.kokoro.windows import phoned, render
from engine.tts.packs import not_fetched
from engine.tts.pick import can_clone
from engine.tts.session import Synthesiser

if TYPE_CHECKING:
    from engine.tts.kokoro.fit.learning import Lesson

LEAD_MS: Final = 700  # of speech; a window is computed at once, and taking it back costs nothing
_LEARNT: Final = "learnt"


def load(settings: SpeechSettings, progress: Progress) -> "KokoroSynthesiser":
    """Load the fetched model; the first time, cut it into its parts (some seconds). ModelError when
    its files are missing or damaged.
    """
    if not is_fetched():
        raise not_fetched("Kokoro", NAME)
    progress(Translatable("Loading {name}", name="Kokoro"), None)
    file = model_file()
    parts = load_parts(file)
    return KokoroSynthesiser(parts, read_voices(voices_folder()), file.parent / _LEARNT)


class KokoroSynthesiser(Synthesiser[VoiceParts]):
    """Kokoro as a TtsModel. `learnt`: the folder of the voices' statistics."""

    rehearsed = ("One", "two.")

    def __init__(self, parts: Parts, own_voices: tuple[Voice, ...], learnt: Path) -> None:
        info = TtsInfo(
            NAME,
            SAMPLE_RATE,
            RATE_RANGE,
            can_clone=can_clone(NAME),
            recipe_version=MAKING,
            learnt=LEARNT,
            resembles=True,
            can_mix=True,
            lead_ms=LEAD_MS,
            side_by_side=True,
            languages=tuple(dict.fromkeys(voice.language for voice in own_voices)),
        )
        super().__init__(info, own_voices, self.voice_parts)
        self._parts = parts
        self._learnt = learnt
        self._espeak = cache(Espeak)

    def encode_voice(self, pcm: Pcm, sample_rate: int) -> Voice:
        """Blend a voice that resembles the speaker of mono samples of 1 s or more. UnreadableClip
        gives the reason for a recording that cannot be used.
        """
        from engine.tts.kokoro import resemblance  # loads torch

        english = tuple(voice for voice in self._voices if voice.language == ENGLISH)
        voice = resemblance.resembling(english, pcm, sample_rate)
        own = self.voice_parts(voice)
        spoken = [own.natural(phoned(own.espeak, each)) for each in sentences_in(ENGLISH)]
        pitch = np.concatenate([each.pitch for each in spoken])
        said = render(own.parts, own.voice_inputs, spoken[0], 0, len(spoken[0].features))
        found = resemblance.delivery_of(pcm, sample_rate, said, pitch)
        return replace(voice, tensors={**voice.tensors, **found.tensors()})

    def learn(self, lesson: "Lesson", checkpoint: Path, show: Callable[[float], None]) -> Voice:
        """Fit the voice of a lesson, in minutes. See learning.learn()."""
        from engine.tts.kokoro.fit.learning import learn  # loads torch and onnx

        return learn(self.voice_parts(lesson.blend), lesson, checkpoint, show)

    def open(self, voice: Voice, *, seed: int) -> KokoroSession:
        """Open an utterance in `voice`. `seed` has no effect: nothing here is random."""
        return KokoroSession(self._of(voice))

    def voice_parts(self, voice: Voice) -> VoiceParts:
        """Return the parts that sessions of a voice need. Takes some seconds if the voice's
        statistics are not stored yet.
        """
        style, accent = style_of(voice), accent_of(voice)
        espeak = self._espeak(accent)
        sentences = [phoned(espeak, sentence) for sentence in sentences_in(voice.language)]
        voice_inputs, own_rate = statistics(
            self._parts, style, sentences, self._learnt, accent=accent, shift=shift_of(voice)
        )
        speaker = Speaker(style, accent, own_rate, delivery_of(voice))
        return VoiceParts(self._parts, espeak, speaker, voice_inputs)
