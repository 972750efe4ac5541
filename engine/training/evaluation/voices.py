"""The voices that are judged: a pack's or a synthesiser's, speaking as in the program.

Invariant: a voice is a plain value, and its model is loaded once in a process.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import torch

from engine.errors import InvalidInput
from engine.nn.packed.quantise import Precision
from engine.settings import SpeechSettings
from engine.text.phonemes import Espeak
from engine.training.evaluation.performance import Spoken, say
from engine.training.run import file_hash
from engine.training.teachers import whole_sentences
from engine.tts import registry
from engine.tts.base import TtsModel, Voice
from engine.tts.delays import OWN_RATE, trace
from engine.tts.kokoro.voices import NAME as KOKORO
from engine.tts.packs import VOICES_FOLDER, system_of
from engine.tts.voice_catalogue import of_settings
from engine.tts.voices import saved_voices
from engine.tts.voxtream.files.checkpoint import Target
from engine.tts.voxtream.files.pack import load_pack

_HEARD: Final = {".json", ".safetensors"}  # not the card, which is made from the figures


@dataclass(frozen=True)
class LiveVoice:
    """A voice that speaks word by word. `source`: a pack's folder, or the name of a synthesiser of
    the program.
    """

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
        raise InvalidInput(
            "'{source}' is neither a pack's folder nor a synthesiser on this machine, or lacks one "
            "of these voices.",
            source=source,
        )
    return tuple(chosen[: len(names) or most])


def depends_on(source: str) -> tuple[str, ...]:
    """Return hashes of all files that influence the speech of a pack (none for a synthesiser).
    Results depend on them.
    """
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
        return whole_sentences.model()
    if source in registry.NAMES:
        return registry.load(SpeechSettings(engine=source), lambda text, share: None)
    if system := system_of(Path(source)):
        return registry.load_pack(system, Path(source), "cpu")
    place = Target(torch.device("cpu"), torch.float32, threads=1)
    return load_pack(Path(source), Precision.INT8, place)  # as the program loads it


@lru_cache(maxsize=1)
def phonemizer_library() -> Espeak:
    """Load the phonemizer's library, which takes half a second."""
    return Espeak()
