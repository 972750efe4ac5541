"""The voices that are judged, of packs and synthesisers, and their judges: Whisper base recognises
the words, pocketsphinx aligns them, DNSMOS rates the sound.

Whisper writes numbers in words (it must not use figures). Words with the sound of the right ones
are right, in any spelling and joined or not: "Sophia", "metres", "W C", "stand alone". DNSMOS
(package speechmos, an extra of training) estimates how natural speech sounds; without the package
nothing is estimated.

Invariants: a voice is a plain value, and its model is loaded once in a process. Every utterance is
spoken word by word through an ordinary session, with a seed that training never used. All voices
have the same judges, which do not know the voice.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import soxr
import torch

from engine.asr.sphinx.searches import decode_whole
from engine.errors import InvalidInput
from engine.languages import ENGLISH
from engine.nn.packed.product_graph import Precision
from engine.settings import SpeechSettings
from engine.text.phonemes import Espeak
from engine.training.run import file_hash
from engine.training.teachers import synthesisers
from engine.tts import delays, registry
from engine.tts.base import Pcm, TtsModel, Voice
from engine.tts.delays import OWN_RATE, audible_span, speak_once, trace
from engine.tts.kokoro.voices import NAME as KOKORO
from engine.tts.packs import VOICES_FOLDER, system_of
from engine.tts.registry import of_settings
from engine.tts.voices import saved_voices
from engine.tts.voxtream.files.checkpoint import Target
from engine.tts.voxtream.files.pack import load_pack

RATE: Final = 16_000
FRAMES_PER_SECOND: Final = 100  # of the aligner
BEAM: Final = 5
LONGEST_JOIN: Final = 5  # words that may be one word on the other side
_JOINS: Final = ((1, 1), *((n, 1) for n in range(2, LONGEST_JOIN + 1)),
                 *((1, n) for n in range(2, LONGEST_JOIN + 1)))  # fmt: skip
_FIGURE: Final = re.compile(r"[0-9%$\u00a3\u20ac&+=]")
_NO_WORD: Final = re.compile(r"[^A-Za-z' ]+")
_NO_WORD_ELSEWHERE: Final = re.compile(r"(?:[^\w' ]|[\d_])+")
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
    (made, ended), rate_hz = speak_once(model, voice, text, rate), model.info.sample_rate
    pieces = [each.frame.pcm for each in made] or [np.zeros(1, np.float32)]
    onsets = tuple(onset.sample / rate_hz for each in made for onset in each.frame.onsets)
    cpu_seconds, language = sum(each.cpu_s for each in made), voice.language
    return Spoken(text, np.concatenate(pieces), rate_hz, ended, onsets, cpu_seconds, language)


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
    """Return voices of a pack's folder or a synthesiser, those called `names` or the first ones."""
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
    """Load a pack or a synthesiser on one thread, at the precision that the program uses."""
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


def naturalness(sentence: Spoken) -> float | None:
    """Return DNSMOS's mean opinion score, 1 to 5 (P.808); None for silence or without speechmos."""
    if find_spec("speechmos") is None:
        return None
    from speechmos import dnsmos  # loads onnxruntime and its models

    samples = soxr.resample(sentence.pcm, sentence.sample_rate, RATE)
    peak = float(np.abs(samples).max())
    return float(dnsmos.run(samples / max(1.0, peak), RATE)["p808_mos"]) if peak else None


class Aligner:
    """pocketsphinx, which finds known words in a recording."""

    def __init__(self) -> None:
        from pocketsphinx import Decoder  # loads its acoustic model

        self._decoder: Any = Decoder(samprate=RATE, loglevel="FATAL", lm=None)

    def word_starts(self, pcm: Pcm, sample_rate: int, text: str) -> list[float]:
        """Seconds at which each word begins; empty when one is not found or not known."""
        decoder = self._decoder
        known = [word.strip(".,!?").lower() for word in text.split()]
        if any(decoder.lookup_word(word) is None for word in known):
            return []
        samples = soxr.resample(pcm, sample_rate, RATE)
        try:
            decoder.set_align_text(" ".join(known))
            decode_whole(decoder, samples)
            # Copied at once: the entries point into memory that the iterator moves through.
            found = [(word.word, word.start_frame) for word in decoder.seg()]
        except (RuntimeError, TypeError):  # pocketsphinx's only sign of a misfit
            return []
        starts = [start / FRAMES_PER_SECOND for name, start in found if name[0].isalpha()]
        return starts if len(starts) == len(known) else []


class WhisperJudge:
    """Whisper base on one thread."""

    def __init__(self, folder: Path, language: str = ENGLISH) -> None:
        """Load the recogniser from its folder, for speech of a language (engine/languages.py)."""
        from faster_whisper import WhisperModel  # loads ctranslate2

        self._language = language
        self._model = WhisperModel(
            str(folder), device="cpu", compute_type="int8", cpu_threads=1, local_files_only=True
        )
        tokenizer = self._model.hf_tokenizer
        # Its tokens that contain a figure or a sign that stands for a word.
        tokens = range(tokenizer.get_vocab_size())
        self._forbidden = [n for n in tokens if _FIGURE.search(tokenizer.decode([n]))]

    def hear(self, pcm: Pcm, sample_rate: int) -> str:
        """Transcribe an utterance."""
        segments, _ = self._model.transcribe(
            soxr.resample(pcm, sample_rate, RATE),
            language=self._language,
            beam_size=BEAM,
            temperature=0.0,
            condition_on_previous_text=False,
            without_timestamps=True,
            suppress_tokens=[-1, *self._forbidden],
        )
        return " ".join(segment.text.strip() for segment in segments).strip()


def words_wrong(text: str, transcript: str, espeak: Espeak) -> int:
    """Return the number of words inserted, left out or replaced; words that sound alike are the
    same. A word also equals up to LONGEST_JOIN words of the other side that together sound the
    same.
    """
    ours = [_sound_of(espeak, word) for word in _words(text, espeak)]
    theirs = [_sound_of(espeak, word) for word in _words(transcript, espeak)]
    costs = np.add.outer(np.arange(len(ours) + 1), np.arange(len(theirs) + 1))
    for row in range(1, len(ours) + 1):
        for column in range(1, len(theirs) + 1):
            before = costs[row - 1, column], costs[row, column - 1], costs[row - 1, column - 1]
            same = [
                costs[row - one, column - other]
                for one, other in _JOINS
                if one <= row
                and other <= column
                and "".join(ours[row - one : row]) == "".join(theirs[column - other : column])
            ]
            costs[row, column] = min([1 + min(before), *same])
    return int(costs[-1, -1])


def _words(text: str, espeak: Espeak) -> list[str]:
    """Split a text into words. Capitals stay, because such words may be spelt out."""
    no_word = _NO_WORD if espeak.english else _NO_WORD_ELSEWHERE
    plain = no_word.sub(" ", text.replace("\u2019", "'")).split()
    return [word.strip("'") for word in plain if word.strip("'")]


@lru_cache(maxsize=50_000)
def _sound_of(espeak: Espeak, word: str) -> str:
    """Return the phones of a word without stress and length."""
    if word.isupper() and len(word) > 1:  # letters: "W C A J" is heard as "WCAJ"
        return "".join(_sound_of(espeak, letter) for letter in word)
    spelt = word.lower() if len(word) > 1 else word
    phones = "".join(phone for group in espeak.groups(spelt) for phone in group)
    return re.sub("[\u02c8\u02cc\u02d0-]", "", phones)  # French "ə-" is an unstressed "ə"
