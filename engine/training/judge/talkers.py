"""Who speaks the test sentences: a voice of the pack, a source synthesiser, the formant voice.

The synthesisers that the voice learnt from show the best value that a figure could have on the same
sentences, and the formant voice shows what is reached without any training. Invariant: a talker is
a plain value; whatever it loads is loaded once per process.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import torch

from engine.errors import InvalidInput
from engine.text.phonemes import Espeak, WordPhonemizer
from engine.training.corpus.matching import match
from engine.training.corpus.speakers import BASES, TEACHER, UNHEARD, Speaker
from engine.training.corpus.utterance import SAMPLE_RATE, Plan
from engine.training.judge.performance import SEED, Spoken, say
from engine.training.recipe import Recipe
from engine.training.run import file_hash
from engine.training.tasks import Place
from engine.training.teachers import synthesisers
from engine.training.teachers.synthesisers import Request, Take
from engine.training.teachers.teacher import Teacher, fetch
from engine.tts import registry
from engine.tts.base import TtsModel, Voice
from engine.tts.packs import system_of
from engine.tts.voices import saved_voices
from engine.tts.voxtream.config import STARTER
from engine.tts.voxtream.files.checkpoint import Target
from engine.tts.voxtream.files.pack import VOICES_FOLDER, load_pack
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser

FORMANT: Final = "espeak"
_HEARD: Final = {".json", ".safetensors"}  # not the card, which is made from the figures
Rates = tuple[float, ...]  # SPS; several divide an utterance into equal parts


def pack_hashes(folder: Path) -> tuple[str, ...]:
    """Hashes of all files of a pack that influence its speech."""
    files = sorted(folder.rglob("*"))
    return tuple(file_hash(file) for file in files if file.suffix in _HEARD)


@dataclass(frozen=True)
class PackTalker:
    """The named voice of a pack."""

    folder: str
    name: str

    def speak(self, texts: Sequence[str], rates: Rates) -> list[Spoken]:
        """All texts, each one utterance."""
        with self.open() as (model, voice):
            return [say(model, voice, text, rates) for text in texts]

    @contextmanager
    def open(self) -> Iterator[tuple[TtsModel, Voice]]:
        """The model, which stays loaded, and this voice of it."""
        model = loaded_pack(self.folder)
        yield model, next(voice for voice in model.voices() if voice.name == self.name)


@dataclass(frozen=True)
class RepeatedTalker(PackTalker):
    """The named voice of a pack, which says every text `draws` times; the judge keeps the best of
    them (SMLLE, 4.2: it shows what a system could do, no session can).
    """

    draws: int

    def speak(self, texts: Sequence[str], rates: Rates) -> list[Spoken]:
        """All texts, again and again, each time from another seed."""
        with self.open() as (model, voice):
            return [
                say(model, voice, text, rates, seed=SEED + draw)
                for draw in range(self.draws)
                for text in texts
            ]


@dataclass(frozen=True)
class FormantTalker:
    """The program's formant voice, espeak, through its own sessions."""

    name: str = FORMANT

    def speak(self, texts: Sequence[str], rates: Rates) -> list[Spoken]:
        """All texts, each one utterance."""
        with self.open() as (model, voice):
            return [say(model, voice, text, rates) for text in texts]

    @contextmanager
    def open(self) -> Iterator[tuple[TtsModel, Voice]]:
        """The model and its first voice, until the context ends."""
        from engine.tts.espeak.model import EspeakModel  # loads libespeak-ng

        model = EspeakModel()
        try:
            yield model, model.voices()[0]
        finally:
            model.close()


@dataclass(frozen=True)
class SourceTalker:
    """A synthesiser the corpus was made with, stretched to the requested rate."""

    name: str
    synthesiser: str
    voice: str
    pitch_hz: float
    sps: float  # its own rate

    def speak(self, texts: Sequence[str], rates: Rates) -> list[Spoken]:
        """Those of the texts that it can speak, at the first of the rates."""
        stretch = self.sps / rates[0]
        requests = [Request(text, self.voice, stretch, self.pitch_hz) for text in texts]
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


@dataclass(frozen=True)
class TeacherTalker:
    """A voice of the teacher's."""

    name: str
    voice: str

    def speak(self, texts: Sequence[str], rates: Rates) -> list[Spoken]:
        """Those of the texts that it can speak, at exactly these rates."""
        person = Speaker(0, TEACHER, 1.0, 0.0, 0.0, held_out=True, blend=((self.voice, 1.0),))
        sentences = []
        for text in texts:
            before = _cpu_seconds()
            utterance = _teacher().say(Plan(text, text, person, rates))
            if utterance is not None:
                spent = _cpu_seconds() - before
                sentences.append(Spoken(text, utterance.pcm, SAMPLE_RATE, cpu_seconds=spent))
        return sentences


SessionTalker = PackTalker | FormantTalker  # who speaks as in the program, word by word
Talker = SessionTalker | SourceTalker | TeacherTalker


def source_talkers(recipe: Recipe) -> tuple[Talker, ...]:
    """The voices that a recipe learns from, without the formant ones; with a teacher, those of its
    voices that are held out.
    """
    names = (recipe.corpus.teacher,) if recipe.corpus.teacher else recipe.corpus.synthesisers
    return tuple(talker for name in names if name != FORMANT for talker in _synthesiser(name))


def talkers_beside(recipe: Recipe) -> dict[str, tuple[Talker, ...]]:
    """Who else is measured, by name. InvalidInput for a name that talkers_of() does not know."""
    return {Path(name).name: talkers_of(name) for name in recipe.evaluate.beside}


def talkers_of(name: str) -> tuple[Talker, ...]:
    """All voices of the pack in a folder or of a synthesiser; of the teacher those that no corpus
    holds. InvalidInput for a name that is neither.
    """
    talkers = _synthesiser(name) or tuple(
        PackTalker(Place(Path(name).resolve()), saved.name)
        for saved in saved_voices(Path(name) / VOICES_FOLDER)
    )
    if not talkers or synthesisers.missing([name]):
        raise InvalidInput(
            f"Nobody here is called '{name}': no pack lies there, and no such synthesiser is on "
            "this machine."
        )
    return talkers


def _synthesiser(name: str) -> tuple[Talker, ...]:
    if name == TEACHER.synthesiser:
        return tuple(TeacherTalker(f"{name} {voice}", voice) for voice in UNHEARD)
    return tuple(
        SourceTalker(f"{name} {base.voice}", name, base.voice, base.pitch_hz, base.sps)
        for base in BASES
        if base.synthesiser == name
    )


@lru_cache(maxsize=1)
def loaded_pack(folder: str) -> TtsModel:
    """A pack of any system on one thread, at the precision the program speaks with."""
    torch.set_num_threads(1)
    if system := system_of(Path(folder)):
        return registry.load_pack(system, Path(folder), "cpu")
    return loaded_voxtream2(folder)


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


@lru_cache(maxsize=1)
def _teacher() -> Teacher:
    return Teacher(fetch(), phonemizer_library())


def _onsets(text: str, take: Take) -> tuple[float, ...]:
    """Where the words of a take begin; empty when its sounds do not match the text."""
    phonemizer = WordPhonemizer(phonemizer_library())
    words = [ready for word in text.split() for ready in phonemizer.push(word)]
    words += phonemizer.finish()
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
