"""Who judges: Whisper base and pocketsphinx recognise the words, DNSMOS rates the sound.

Whisper writes numbers in words (it must not use figures). Words that sound like what was meant
count as right, however they are spelt or joined: "Sophia", "metres", "W C", "stand alone".
pocketsphinx has a bigram of the test sentences, and so tells whether speech is intelligible when
one knows what may come; another one hears sounds without words, and so tells whether anything was
left out or said twice. DNSMOS (package speechmos, an extra of training) estimates how natural
speech sounds; without the package nothing is estimated. Invariant: a judge knows nothing of the
voice; the same one judges everybody.
"""

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import pairwise
from math import log10
from pathlib import Path
from typing import Any, Final

import jiwer
import numpy as np
import soxr

from engine.asr.sphinx.searches import decode_whole
from engine.text.phonemes import Espeak
from engine.training.evaluation.performance import Spoken, at_pauses
from engine.training.teachers import sounds
from engine.tts.base import Pcm

RATE: Final = 16_000
DISCOUNT: Final = 0.5  # of bigram counts
INSERTION: Final = 0.65  # word insertion probability: pocketsphinx's default
BEAM: Final = 5
LONGEST_S: Final = 15.0
LONGEST_JOIN: Final = 5  # words that may be one word on the other side
_FIGURE: Final = re.compile(r"[0-9%$\u00a3\u20ac&+=]")
_NO_WORD: Final = re.compile(r"[^A-Za-z' ]+")


class Recogniser:
    """Words of known sentences, heard in speech."""

    def __init__(self, sentences: Sequence[str]) -> None:
        """`sentences` = what may be said, as a bigram."""
        with tempfile.TemporaryDirectory(prefix="rubato-judge-") as folder:
            file = Path(folder) / "sentences.arpa"
            file.write_text(bigram(sentences), encoding="ascii")
            dictionary = Path(folder) / "sentences.dict"
            dictionary.write_text(pronunciations(sentences), encoding="utf-8")
            self._decoder = _decoder(lm=str(file), dict=str(dictionary))

    def knows(self, sentence: str) -> bool:
        """Whether all its words are in the dictionary and in the sentences."""
        return all(self._decoder.lookup_word(word) is not None for word in words(sentence))

    def hear(self, pcm: Pcm, sample_rate: int) -> str:
        """The words of one utterance."""
        decode_whole(self._decoder, soxr.resample(pcm, sample_rate, RATE))
        hypothesis = self._decoder.hyp()
        return hypothesis.hypstr if hypothesis else ""


class SoundRecogniser:
    """Sounds heard in speech, without any words."""

    def __init__(self) -> None:
        from pocketsphinx import get_model_path  # loads the library

        # Weights and beams from CMUSphinx's page on phoneme recognition.
        model = Path(get_model_path()) / "en-us" / "en-us-phone.lm.bin"
        self._decoder = _decoder(lm=None, allphone=str(model), lw=2.0, beam=1e-20, pbeam=1e-20)

    def hear(self, pcm: Pcm, sample_rate: int) -> list[str]:
        """Sounds (`teachers.sounds`), pauses left out."""
        decode_whole(self._decoder, soxr.resample(pcm, sample_rate, RATE))
        names = [segment.word.lower() for segment in self._decoder.seg() or ()]
        heard = [sound for name in names for sound in sounds.ARPABET.get(name, ())]
        return [sound for sound in heard if sound != sounds.PAUSE]


def _decoder(**options: Any) -> Any:
    from pocketsphinx import Decoder  # loads its acoustic model

    return Decoder(samprate=RATE, loglevel="FATAL", wip=INSERTION, **options)


def words(sentence: str) -> list[str]:
    """Lower-case words without marks."""
    return [word.strip(".,!?").lower() for word in sentence.split()]


def word_error_rate(text: Sequence[str], transcript: Sequence[str]) -> float:
    """Errors of all sentences divided by the number of words meant."""
    truth = [" ".join(words(sentence)) for sentence in text]
    return float(jiwer.wer(truth, list(transcript)))


def word_errors(text: str, transcript: str) -> int:
    """Words inserted, left out and replaced in one sentence."""
    counts = jiwer.process_words(" ".join(words(text)), transcript)
    return int(counts.substitutions + counts.deletions + counts.insertions)


def bigram(sentences: Sequence[str]) -> str:
    """An ARPA language model of sentences: bigrams with absolute discounting over unigrams."""
    pairs: Counter[tuple[str, str]] = Counter()
    singles: Counter[str] = Counter()
    for sentence in sentences:
        line = ["<s>", *words(sentence), "</s>"]
        singles.update(line)
        pairs.update(pairwise(line))
    total = sum(count for word, count in singles.items() if word != "<s>")
    followers: Counter[str] = Counter(first for first, _ in pairs)
    lines = ["\\data\\", f"ngram 1={len(singles)}", f"ngram 2={len(pairs)}", "", "\\1-grams:"]
    for word, count in sorted(singles.items()):
        backing = DISCOUNT * followers[word] / count if followers[word] else 1.0
        chance = -99.0 if word == "<s>" else log10(count / total)
        lines.append(f"{chance:.4f} {word} {log10(backing):.4f}")
    lines += ["", "\\2-grams:"]
    for (first, second), count in sorted(pairs.items()):
        lines.append(f"{log10((count - DISCOUNT) / singles[first]):.4f} {first} {second}")
    return "\n".join([*lines, "", "\\end\\", ""])


def pronunciations(sentences: Sequence[str]) -> str:
    """The lines of pocketsphinx's dictionary for these words. With the whole dictionary, a language
    model of few words takes ten seconds to load, because every word of the dictionary is looked up
    in a table as small as that model.
    """
    from pocketsphinx import get_model_path  # loads the library

    vocabulary = {word for sentence in sentences for word in words(sentence)}
    whole = Path(get_model_path()) / "en-us" / "cmudict-en-us.dict"
    lines = whole.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if line.split("(")[0].split()[0] in vocabulary)


@dataclass(frozen=True)
class Naturalness:
    """Mean opinion scores, 1 to 5: after ITU-T P.808, and overall after P.835."""

    p808: float
    overall: float


def naturalness(sentence: Spoken) -> Naturalness | None:
    """Scores of an utterance (about a second); None for silence, or without speechmos."""
    if find_spec("speechmos") is None:
        return None
    from speechmos import dnsmos  # loads onnxruntime and its models

    samples = soxr.resample(sentence.pcm, sentence.sample_rate, RATE)
    peak = float(np.abs(samples).max())
    if peak == 0:
        return None
    scores = dnsmos.run(samples / max(1.0, peak), RATE)
    return Naturalness(float(scores["p808_mos"]), float(scores["ovrl_mos"]))


# ----------------------------------------------------------------------- Whisper


class WhisperJudge:
    """Whisper base on one thread."""

    def __init__(self, folder: Path) -> None:
        """Load it from its folder."""
        from faster_whisper import WhisperModel  # loads ctranslate2

        self._model = WhisperModel(
            str(folder), device="cpu", compute_type="int8", cpu_threads=1, local_files_only=True
        )
        tokenizer = self._model.hf_tokenizer
        # Its tokens that contain a figure or a sign that stands for a word.
        tokens = range(tokenizer.get_vocab_size())
        self._forbidden = [n for n in tokens if _FIGURE.search(tokenizer.decode([n]))]

    def hear(self, pcm: Pcm, sample_rate: int) -> str:
        """The words of an utterance. A long one is heard in pieces, because in half a minute the
        model can repeat a syllable without end.
        """
        return " ".join(
            self._hear(piece, sample_rate) for piece in at_pauses(pcm, sample_rate, LONGEST_S)
        ).strip()

    def _hear(self, pcm: Pcm, sample_rate: int) -> str:
        segments, _ = self._model.transcribe(
            soxr.resample(pcm, sample_rate, RATE),
            language="en",
            beam_size=BEAM,
            temperature=0.0,
            condition_on_previous_text=False,
            without_timestamps=True,
            suppress_tokens=[-1, *self._forbidden],
        )
        return " ".join(segment.text.strip() for segment in segments)


def words_wrong(text: str, transcript: str, espeak: Espeak) -> int:
    """Words inserted, left out and replaced; words that sound alike count as the same."""

    def sound(words: tuple[str, ...]) -> str:
        """Phones of words, each pronounced on its own, without stress and length."""
        return "".join(_sound_of(espeak, word) for word in words)

    return _distance(_words(text), _words(transcript), sound)


def _distance(
    text: Sequence[str], transcript: Sequence[str], sound: Callable[[tuple[str, ...]], str]
) -> int:
    """Levenshtein's distance, in which up to LONGEST_JOIN words may equal one that sounds like all
    of them."""
    costs = [
        [row + column for column in range(len(transcript) + 1)] for row in range(len(text) + 1)
    ]
    for row in range(1, len(text) + 1):
        for column in range(1, len(transcript) + 1):
            best = 1 + min(
                costs[row - 1][column], costs[row][column - 1], costs[row - 1][column - 1]
            )
            for ours, theirs in _joins(row, column):
                same = sound(tuple(text[row - ours : row])) == sound(
                    tuple(transcript[column - theirs : column])
                )
                if same:
                    best = min(best, costs[row - ours][column - theirs])
            costs[row][column] = best
    return costs[-1][-1]


def _joins(row: int, column: int) -> list[tuple[int, int]]:
    """How many words of each side may be compared with each other; on one side it is always one."""
    pairs = [(1, 1), *((n, 1) for n in range(2, LONGEST_JOIN + 1))]
    pairs += [(1, n) for n in range(2, LONGEST_JOIN + 1)]
    return [(ours, theirs) for ours, theirs in pairs if ours <= row and theirs <= column]


def _words(text: str) -> list[str]:
    """Words without marks; hyphens separate words. Capitals stay, because they may be spelt out."""
    plain = _NO_WORD.sub(" ", text.replace("\u2019", "'")).split()
    return [word.strip("'") for word in plain if word.strip("'")]


@lru_cache(maxsize=50_000)
def _sound_of(espeak: Espeak, word: str) -> str:
    if word.isupper() and len(word) > 1:  # letters: "W C A J" is heard as "WCAJ"
        return "".join(_sound_of(espeak, letter) for letter in word)
    spelt = word.lower() if len(word) > 1 else word
    phones = "".join(phone for group in espeak.groups(spelt) for phone in group)
    return re.sub("[\u02c8\u02cc\u02d0]", "", phones)
