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
from engine.translatable import Translatable
from engine.tts.base import Pcm, Progress, TtsInfo, Voice
from engine.tts.kokoro import place
from engine.tts.kokoro.natural import phoned, plan_natural
from engine.tts.kokoro.parts import Parts, load_parts
from engine.tts.kokoro.plan import Speaker
from engine.tts.kokoro.session import RATE_RANGE, KokoroSession, Machine
from engine.tts.kokoro.source import SAMPLE_RATE
from engine.tts.kokoro.statistics import sentences_in, statistics
from engine.tts.kokoro.voices import (
    LEARNT,
    MAKING,
    NAME,
    accent_of,
    delivery_of,
    read_voices,
    shift_of,
    style_of,
)
from engine.tts.kokoro.windows import render
from engine.tts.packs import not_fetched
from engine.tts.pick import can_clone
from engine.tts.synthesiser import Synthesiser

if TYPE_CHECKING:
    from engine.tts.kokoro.fit.learning import Lesson

LEAD_MS: Final = 700  # of speech; a window is computed at once, and taking it back costs nothing
_LEARNT: Final = "learnt"


def load(settings: SpeechSettings, progress: Progress) -> "KokoroSynthesiser":
    """Load the fetched model; the first time, cut it (some seconds). ModelError when its files are
    missing or damaged.
    """
    if not place.is_fetched():
        raise not_fetched("Kokoro", NAME)
    progress(Translatable("Loading {name}", name="Kokoro"), None)
    file = place.model_file()
    parts = load_parts(file)
    return KokoroSynthesiser(parts, read_voices(place.voices_folder()), file.parent / _LEARNT)


class KokoroSynthesiser(Synthesiser[Machine]):
    """A TtsModel. `learnt`: the folder of the voices' statistics."""

    rehearsed = ("One", "two.")

    def __init__(self, parts: Parts, own_voices: tuple[Voice, ...], learnt: Path) -> None:
        info = TtsInfo(
            NAME,
            SAMPLE_RATE,
            RATE_RANGE,
            can_clone=can_clone(NAME),
            making=MAKING,
            learnt=LEARNT,
            resembles=True,
            can_mix=True,
            lead_ms=LEAD_MS,
            languages=tuple(dict.fromkeys(voice.language for voice in own_voices)),
        )
        super().__init__(info, own_voices, self.machine)
        self._parts = parts
        self._learnt = learnt
        self._espeak = cache(Espeak)

    def encode_voice(self, pcm: Pcm, sample_rate: int) -> Voice:
        """Blend a voice that resembles the speaker of mono samples of 1 s or more. UnreadableClip
        gives the reason for a recording that cannot be used.
        """
        from engine.tts.kokoro.fit.measuring import delivery_of as delivery  # loads torch
        from engine.tts.kokoro.resemblance import resembling

        english = tuple(voice for voice in self._voices if voice.language == ENGLISH)
        voice = resembling(english, pcm, sample_rate)
        machine = self.machine(voice)
        parts, style = machine.parts, machine.speaker.style
        words = [phoned(machine.espeak, sentence) for sentence in sentences_in(ENGLISH)]
        accent = machine.speaker.accent
        spoken = [plan_natural(parts, style, each, accent=accent) for each in words]
        pitch = np.concatenate([each.pitch for each in spoken])
        said = render(parts, machine.given, spoken[0], 0, len(spoken[0].features))
        found = delivery(pcm, sample_rate, said, pitch)
        return replace(voice, tensors={**voice.tensors, **found.tensors()})

    def learn(self, lesson: "Lesson", checkpoint: Path, show: Callable[[float], None]) -> Voice:
        """Fit the voice of a lesson, in minutes. See learning.learn()."""
        from engine.tts.kokoro.fit.learning import learn  # loads torch and onnx

        return learn(self.machine(lesson.blend), lesson, checkpoint, show)

    def open(self, voice: Voice, *, seed: int) -> KokoroSession:
        """Open an utterance in `voice`. `seed` has no effect: nothing here is random."""
        return KokoroSession(self._of(voice))

    def machine(self, voice: Voice) -> Machine:
        """Prepare speech in a voice; takes some seconds where its statistics are not stored yet."""
        style, accent = style_of(voice), accent_of(voice)
        espeak = self._espeak(accent)
        sentences = [phoned(espeak, sentence) for sentence in sentences_in(voice.language)]
        learnt = statistics(
            self._parts, style, sentences, self._learnt, accent=accent, shift=shift_of(voice)
        )
        speaker = Speaker(style, accent, learnt.own_rate, delivery_of(voice))
        return Machine(self._parts, espeak, speaker, learnt.given)
