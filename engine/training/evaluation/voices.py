"""The voices that are judged: a pack's or a synthesiser's, speaking as in the program, and measures
of their samples.

Invariants: a voice is a plain value, and its model is loaded once in a process. Every utterance is
spoken word by word through an ordinary session, with a seed that training never used.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from engine.errors import InvalidInput
from engine.languages import ENGLISH
from engine.nn.packed.quantise import Precision
from engine.settings import SpeechSettings
from engine.text.phonemes import Espeak
from engine.training.run import file_hash
from engine.training.teachers import synthesisers
from engine.tts import delays, registry
from engine.tts.base import Pcm, TtsModel, Voice
from engine.tts.delays import OWN_RATE, SEED, audible_span, longest_s, speak, trace
from engine.tts.kokoro.voices import NAME as KOKORO
from engine.tts.packs import VOICES_FOLDER, system_of
from engine.tts.voice_catalogue import of_settings
from engine.tts.voices import saved_voices
from engine.tts.voxtream.files.checkpoint import Target
from engine.tts.voxtream.files.pack import load_pack

_HEARD: Final = {".json", ".safetensors"}  # not the card, which is made from the figures


@dataclass(frozen=True)
class Spoken:
    """A spoken utterance. `ended` = it ended by itself; onsets in seconds, one for each word."""

    text: str
    pcm: Pcm
    sample_rate: int
    ended: bool = True
    onsets: tuple[float, ...] = ()
    cpu_seconds: float = 0.0
    language: str = ENGLISH

    @property
    def rate(self) -> float:
        """Known syllables over speech time, SPS."""
        seconds = speech_seconds(self.pcm, self.sample_rate)
        return syllables_of(self.text, self.language) / seconds if seconds else 0.0


def say(model: TtsModel, voice: Voice, text: str, rate: float | None = None) -> Spoken:
    """Speak a text. An utterance that becomes too long is cut off and has not `ended`."""
    words, sample_rate = text.split(), model.info.sample_rate
    left, ended, cpu_seconds = sample_rate * longest_s(words, rate, voice.language), True, 0.0
    pieces, onsets = list[Pcm](), list[float]()
    with model.open(voice, seed=SEED) as session:
        session.rate = rate
        for each in speak(session, words):
            pieces.append(each.frame.pcm)
            onsets += [onset.sample / sample_rate for onset in each.frame.onsets]
            cpu_seconds, left = cpu_seconds + each.cpu_s, left - len(each.frame.pcm)
            if left <= 0:
                ended = False
                break
    pcm = np.concatenate(pieces) if pieces else np.zeros(1, np.float32)
    return Spoken(text, pcm, sample_rate, ended, tuple(onsets), cpu_seconds, voice.language)


def spoken_rate(model: TtsModel, texts: Sequence[str], rate: float | None = None) -> float:
    """Speak all texts, the model's voices in turn; return their common rate in SPS."""
    voices = model.voices()
    said = [say(model, voices[n % len(voices)], text, rate) for n, text in enumerate(texts)]
    seconds = sum(speech_seconds(each.pcm, each.sample_rate) for each in said)
    return sum(map(syllables_of, texts)) / max(seconds, 0.1)


def syllables_of(text: str, language: str = ENGLISH) -> int:
    """Return the number of syllables in a text."""
    return delays.syllables_of(text.split(), language)


def speech_seconds(pcm: Pcm, sample_rate: int) -> float:
    """Seconds from the first sound to the last."""
    begin, end = audible_span(pcm, sample_rate)
    return end - begin


@dataclass(frozen=True)
class LiveVoice:
    """A voice that speaks word by word. `source`: a pack's folder, or a synthesiser's name."""

    source: str
    name: str

    def speak(self, texts: Sequence[str], rate: float) -> list[Spoken]:
        """Speak texts, each as one utterance, at a rate in SPS."""
        model, voice = self.ready()
        return [say(model, voice, text, rate) for text in texts]

    def ready(self) -> tuple[TtsModel, Voice]:
        """Return the loaded model and this voice of the model, after a warm-up."""
        model = loaded(self.source)
        voice = next(voice for voice in model.voices() if voice.name == self.name)
        model.warm(voice)
        return model, voice


def voices_of(source: str, names: Sequence[str] = (), most: int = 6) -> tuple[LiveVoice, ...]:
    """Return voices of a pack's folder or of a synthesiser of the program: those called `names`, or
    the first `most`. InvalidInput if the source or a voice does not exist.
    """
    if source in registry.NAMES:
        there = [LiveVoice(source, name) for name in of_settings(SpeechSettings(engine=source)).own]
    else:
        saved = sorted(voice.name for voice in saved_voices(Path(source) / VOICES_FOLDER))
        there = [LiveVoice(str(Path(source).resolve()), name) for name in saved]
    chosen = [voice for voice in there if not names or voice.name in names]
    if len(chosen) < max(1, len(names)):
        raise InvalidInput(f"'{source}' is not a pack or a synthesiser here, or lacks a voice.")
    return tuple(chosen[: len(names) or most])


def depends_on(source: str) -> tuple[str, ...]:
    """Return hashes of all files that influence the speech of a pack; none for a synthesiser."""
    files = () if source in registry.NAMES else sorted(Path(source).rglob("*"))
    return tuple(file_hash(file) for file in files if file.suffix in _HEARD)


def measure_delays(voice: LiveVoice, texts: Sequence[str]) -> dict[str, Any]:
    """Task: speak the texts at OWN_RATE and record the times of their frames, after a warm-up."""
    model, own = voice.ready()
    return {"traces": [asdict(trace(model, own, text, OWN_RATE)) for text in texts]}


@lru_cache(maxsize=1)
def loaded(source: str) -> TtsModel:
    """Load a pack of any system, or a synthesiser of the program, on one thread, at the precision
    that the program uses.
    """
    torch.set_num_threads(1)
    if source == KOKORO:
        return synthesisers.kokoro()
    if source in registry.NAMES:
        return registry.load(SpeechSettings(engine=source), lambda text, share: None)
    if system := system_of(Path(source)):
        return registry.load_pack(system, Path(source), "cpu")
    place = Target(torch.device("cpu"), torch.float32, threads=1)
    return load_pack(Path(source), Precision.INT8, place)  # as the program loads it


phonemizer_library = cache(Espeak)  # takes half a second
