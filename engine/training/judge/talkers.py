"""Who speaks the test sentences: a voice of a pack or of the program, or a source of corpora; and
what a voice costs, in a process that holds nothing else, for no judge may be loaded where memory is
measured.

The sources that the voice learnt from show the best value that a figure could have on the same
sentences, and the formant voice shows what is reached without any training. Invariant: a talker is
a plain value, and its model is loaded once in a process.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import psutil
import torch

from engine.errors import InvalidInput
from engine.settings import SpeechSettings
from engine.text.phonemes import Espeak
from engine.training.corpus.matching import match
from engine.training.corpus.speakers import BASES
from engine.training.fetching import fetch
from engine.training.judge.performance import OWN_RATE, Spoken, say
from engine.training.recipe import Recipe
from engine.training.run import file_hash
from engine.training.tasks import Place
from engine.training.teachers import synthesisers, whole_sentences
from engine.training.teachers.sounds import phoned
from engine.training.teachers.synthesisers import Request, Take
from engine.tts import registry
from engine.tts.base import TtsModel, Voice
from engine.tts.kokoro.voices import NAME as KOKORO
from engine.tts.packs import system_of
from engine.tts.voice_catalogue import of_settings
from engine.tts.voices import saved_voices
from engine.tts.voxtream.config import STARTER
from engine.tts.voxtream.files.checkpoint import Target
from engine.tts.voxtream.files.pack import VOICES_FOLDER, load_pack
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser

FORMANT: Final = "espeak"
LIVE: Final = "-live"
MOST_VOICES: Final = 6  # of one name, unless they are named
_HEARD: Final = {".json", ".safetensors"}  # not the card, which is made from the figures
Rates = tuple[float, ...]  # SPS; several divide an utterance into equal parts
_MEGABYTE: Final = 1024 * 1024


def pack_hashes(folder: Path) -> tuple[str, ...]:
    """Hashes of all files of a pack that influence its speech."""
    files = sorted(folder.rglob("*"))
    return tuple(file_hash(file) for file in files if file.suffix in _HEARD)


@dataclass(frozen=True)
class LiveTalker:
    """A voice that speaks as in the program, word by word. `source`: a pack's folder, or the name
    of a synthesiser of the program.
    """

    source: str
    name: str

    def speak(self, texts: Sequence[str], rates: Rates) -> list[Spoken]:
        """All texts, each one utterance."""
        model, voice = self.ready()
        return [say(model, voice, text, rates) for text in texts]

    def ready(self) -> tuple[TtsModel, Voice]:
        """The model, which stays loaded, and this voice of it, warm."""
        model = loaded(self.source)
        voice = next(voice for voice in model.voices() if voice.name == self.name)
        model.warm(voice)
        return model, voice


@dataclass(frozen=True)
class SourceTalker:
    """A synthesiser the corpus was made with, at the rates themselves if it keeps them, else
    stretched to the first of them.
    """

    name: str
    synthesiser: str
    voice: str
    pitch_hz: float
    sps: float  # its own rate

    def speak(self, texts: Sequence[str], rates: Rates) -> list[Spoken]:
        """Those of the texts that it can speak."""
        stretch = self.sps / rates[0]
        requests = [Request(text, self.voice, stretch, self.pitch_hz, rates) for text in texts]
        synthesisers.speak_all(self.synthesiser, requests[:1])  # which may have to load
        before = _cpu_seconds()
        takes = synthesisers.speak_all(self.synthesiser, requests)
        spent = (_cpu_seconds() - before) / max(1, len(takes))
        return [
            Spoken(
                text,
                take.pcm,
                take.sample_rate,
                onsets=_onsets(text, take),
                cpu_seconds=spent,
            )
            for text, take in zip(texts, takes, strict=True)
            if take is not None
        ]


Talker = LiveTalker | SourceTalker


def source_talkers(recipe: Recipe) -> tuple[Talker, ...]:
    """The voices that a recipe learns from, without the formant ones."""
    names = recipe.corpus.synthesisers
    return tuple(each for name in names if name != FORMANT for each in _sources(name)[:MOST_VOICES])


def talkers_beside(recipe: Recipe) -> dict[str, tuple[Talker, ...]]:
    """Who else is measured, by name. InvalidInput for a name that talkers_of() does not know."""
    return {Path(name).name: talkers_of(name) for name in recipe.evaluate.beside}


def talkers_of(name: str, voices: Sequence[str] = ()) -> tuple[Talker, ...]:
    """The named voices, or the first MOST_VOICES, of the pack in a folder, of a source of corpora
    ("flite", "kokoro"), or with LIVE behind its name of a synthesiser of the program
    ("kokoro-live"). InvalidInput for another name, or a voice that is not there.
    """
    model = name.removesuffix(LIVE)
    found: Sequence[Talker]
    if model != name and model in registry.NAMES:
        if model == KOKORO:
            fetch(KOKORO)
        catalogue = of_settings(SpeechSettings(engine=model))
        found = [LiveTalker(model, voice) for voice in catalogue.own]
    else:
        folder = Path(name)
        found = _sources(name) or [
            LiveTalker(Place(folder.resolve()), saved.name)
            for saved in saved_voices(folder / VOICES_FOLDER)
        ]
    chosen = [each for each in found if not voices or each.name.removeprefix(f"{name} ") in voices]
    if len(chosen) < max(1, len(voices)) or synthesisers.missing([name]):
        raise InvalidInput(
            "Nobody here is called '{name}': no pack lies there, and no such synthesiser "
            "is on this machine, or one of the voices is not its.",
            name=name,
        )
    return tuple(chosen[: len(voices) or MOST_VOICES])


def _sources(name: str) -> tuple[Talker, ...]:
    return tuple(
        SourceTalker(f"{name} {base.voice}", name, base.voice, base.pitch_hz, base.sps)
        for base in BASES
        if base.synthesiser == name
    )


@lru_cache(maxsize=1)
def loaded(source: str) -> TtsModel:
    """A pack of any system, or a synthesiser of the program, on one thread, at the precision the
    program speaks with.
    """
    torch.set_num_threads(1)
    if source == KOKORO:
        return whole_sentences.model()
    if source in registry.NAMES:
        return registry.load(SpeechSettings(engine=source), lambda text, share: None)
    if system := system_of(Path(source)):
        return registry.load_pack(system, Path(source), "cpu")
    return loaded_voxtream2(source)


@lru_cache(maxsize=1)
def loaded_voxtream2(folder: str) -> VoxtreamSynthesiser:
    """A pack of VoXtream2, whose rates can be changed."""
    torch.set_num_threads(1)
    place = Target(torch.device("cpu"), torch.float32, threads=1)
    return load_pack(Path(folder), STARTER, place)  # as the program loads it


@lru_cache(maxsize=1)
def phonemizer_library() -> Espeak:
    """The phonemizer's library, half a second to load."""
    return Espeak()


def _onsets(text: str, take: Take) -> tuple[float, ...]:
    """Where the words of a take begin; empty when its sounds do not match the text."""
    words = phoned(text, phonemizer_library())
    alignment = match([phone for word in words for phone in word.phones], take.sounds)
    if alignment is None or not all(word.phones for word in words):
        return ()
    firsts, count = [], 0
    for word in words:
        firsts.append(alignment.starts[count] / take.sample_rate)
        count += len(word.phones)
    return tuple(firsts)


def _cpu_seconds() -> float:
    """CPU time of this process and of the programs it called."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def speed(pack: str, texts: tuple[str, ...]) -> dict[str, Any]:
    """A part, for a fresh process: real-time factor and milliseconds to the first packet of each
    text (CPU time, one thread, the voice warm), and the resident megabytes at the end, with those
    of a process that has only imported torch.
    """
    model = loaded(pack)
    voice = model.voices()[0]
    model.warm(voice)
    sentences = [say(model, voice, text, (OWN_RATE,)) for text in texts]
    return {
        "factors": [each.cpu_seconds * each.sample_rate / len(each.pcm) for each in sentences],
        "first_ms": [each.first_ms for each in sentences],
        "megabytes": psutil.Process().memory_info().rss / _MEGABYTE,
        "torch_megabytes": torch_alone() / _MEGABYTE,
    }


def torch_alone() -> int:
    """Resident bytes of a process that has imported torch."""
    code = "import psutil, torch; print(psutil.Process().memory_info().rss)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    return int(process.stdout)
