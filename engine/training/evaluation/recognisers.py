"""The judges: Whisper base recognises the words, pocketsphinx aligns them, DNSMOS rates the sound.

Whisper writes numbers in words (it must not use figures). Words with the sound of the right ones
are right, in any spelling and joined or not: "Sophia", "metres", "W C", "stand alone". DNSMOS
(package speechmos, an extra of training) estimates how natural speech sounds; without the package
nothing is estimated. Invariant: all voices have the same judges, which do not know the voice.
"""

import re
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import soxr

from engine.asr.sphinx.searches import decode_whole
from engine.languages import ENGLISH
from engine.text.phonemes import Espeak
from engine.training.evaluation.voices import Spoken
from engine.tts.base import Pcm

RATE: Final = 16_000
FRAMES_PER_SECOND: Final = 100  # of the aligner
BEAM: Final = 5
LONGEST_S: Final = 15.0
PAUSE_S: Final = 0.2
LONGEST_JOIN: Final = 5  # words that may be one word on the other side
_JOINS: Final = ((1, 1), *((n, 1) for n in range(2, LONGEST_JOIN + 1)),
                 *((1, n) for n in range(2, LONGEST_JOIN + 1)))  # fmt: skip
_FIGURE: Final = re.compile(r"[0-9%$\u00a3\u20ac&+=]")
_NO_WORD: Final = re.compile(r"[^A-Za-z' ]+")
_NO_WORD_ELSEWHERE: Final = re.compile(r"(?:[^\w' ]|[\d_])+")


def naturalness(sentence: Spoken) -> float | None:
    """Rate an utterance with DNSMOS, which takes about a second. Return a mean opinion score, 1 to
    5, after ITU-T P.808. None for silence, or without speechmos.
    """
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


# ----------------------------------------------------------------------- Whisper


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
        """Transcribe an utterance. A long one is transcribed in pieces, because in half a minute
        the model can repeat a syllable without end.
        """
        return " ".join(
            self._hear(piece, sample_rate) for piece in at_pauses(pcm, sample_rate, LONGEST_S)
        ).strip()

    def _hear(self, pcm: Pcm, sample_rate: int) -> str:
        segments, _ = self._model.transcribe(
            soxr.resample(pcm, sample_rate, RATE),
            language=self._language,
            beam_size=BEAM,
            temperature=0.0,
            condition_on_previous_text=False,
            without_timestamps=True,
            suppress_tokens=[-1, *self._forbidden],
        )
        return " ".join(segment.text.strip() for segment in segments)


def at_pauses(pcm: Pcm, sample_rate: int, longest_s: float) -> list[Pcm]:
    """Cut samples into pieces of at most `longest_s` seconds, each time at the quietest place in
    the second half of the longest possible piece.
    """
    pieces, longest, width = list[Pcm](), int(longest_s * sample_rate), int(PAUSE_S * sample_rate)
    while len(pcm) > longest:
        energy = np.cumsum(np.square(pcm[longest // 2 : longest], dtype=np.float64))
        cut = longest // 2 + int(np.argmin(energy[width:] - energy[:-width])) + width // 2
        pieces.append(pcm[:cut])
        pcm = pcm[cut:]
    return [*pieces, pcm]


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
    """Split a text into words without punctuation; hyphens separate words. Capitals stay, because
    such words may be spelt out.
    """
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
