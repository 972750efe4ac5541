"""pocketsphinx with a bigram of the test sentences, which tells whether speech is intelligible when
one knows what may come; words heard against words meant; and DNSMOS.

DNSMOS (package speechmos, an extra of training) estimates how natural speech sounds; without the
package nothing is estimated. Invariant: a judge knows nothing of the voice; the same one judges
everybody.
"""

import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from math import log10
from pathlib import Path
from typing import Any, Final

import jiwer
import numpy as np
import soxr

from engine.training.evaluation.performance import Spoken
from engine.tts.base import Pcm

RATE: Final = 16_000
DISCOUNT: Final = 0.5  # of bigram counts
INSERTION: Final = 0.65  # word insertion probability: pocketsphinx's default


class Recogniser:
    """Words of known sentences, heard in speech."""

    def __init__(self, sentences: Sequence[str]) -> None:
        """`sentences` = what may be said, as a bigram."""
        from pocketsphinx import Decoder  # loads its acoustic model

        with tempfile.TemporaryDirectory(prefix="rubato-judge-") as folder:
            file = Path(folder) / "sentences.arpa"
            file.write_text(bigram(sentences), encoding="ascii")
            dictionary = Path(folder) / "sentences.dict"
            dictionary.write_text(pronunciations(sentences), encoding="utf-8")
            files = {"lm": str(file), "dict": str(dictionary)}
            self._decoder: Any = Decoder(samprate=RATE, loglevel="FATAL", wip=INSERTION, **files)

    def knows(self, sentence: str) -> bool:
        """Whether all its words are in the dictionary and in the sentences."""
        return all(self._decoder.lookup_word(word) is not None for word in words(sentence))

    def hear(self, pcm: Pcm, sample_rate: int) -> str:
        """The words of one utterance."""
        samples = soxr.resample(pcm, sample_rate, RATE)
        self._decoder.start_utt()
        raw = (np.clip(samples, -1, 1) * 32767).astype(np.int16).tobytes()
        self._decoder.process_raw(raw, full_utt=True)
        self._decoder.end_utt()
        hypothesis = self._decoder.hyp()
        return hypothesis.hypstr if hypothesis else ""


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
