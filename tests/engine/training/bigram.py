"""A recogniser that knows which sentences may come: pocketsphinx with a bigram of them. It tells
whether speech is intelligible when one knows what to expect.
"""

import tempfile
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import log10
from pathlib import Path
from typing import Any, Final

import jiwer
import numpy as np
import soxr

from engine.asr.sphinx.searches import decode_whole
from engine.training.evaluation.voices import RATE, Spoken
from engine.tts.base import Pcm

DISCOUNT: Final = 0.5  # of bigram counts
INSERTION: Final = 0.65  # word insertion probability: pocketsphinx's default
MINUTE: Final = 60.0  # seconds


def words(sentence: str) -> list[str]:
    """The words of a text in lower case, without punctuation."""
    return [word.strip(".,!?").lower() for word in sentence.split()]


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


def _decoder(**options: Any) -> Any:
    from pocketsphinx import Decoder  # loads its acoustic model

    return Decoder(samprate=RATE, loglevel="FATAL", wip=INSERTION, **options)


def word_error_rate(text: Sequence[str], transcript: Sequence[str]) -> float:
    """Errors of all sentences divided by the number of words meant."""
    truth = [" ".join(words(sentence)) for sentence in text]
    return float(jiwer.wer(truth, list(transcript)))


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


def errors_by_minute(sentence: Spoken) -> list[float]:
    """The word error rate of each whole minute of one utterance (of all of it if it is
    shorter), by the words that, according to the voice, began in it.
    """
    judge = Recogniser((sentence.text,))
    length = len(sentence.pcm) / sentence.sample_rate
    edges = np.arange(0.0, length, MINUTE).tolist()
    if len(edges) > 1 and length - edges[-1] < MINUTE:
        edges.pop()  # the last minute includes the remainder
    return [
        _errors(sentence, judge, begin, end)
        for begin, end in zip(edges, [*edges[1:], length], strict=True)
    ]


def _errors(sentence: Spoken, judge: Recogniser, begin: float, end: float) -> float:
    """Word error rate of a stretch, cut at the onsets of words. 1 where no word began."""
    words = sentence.text.split()
    within = [n for n, onset in enumerate(sentence.onsets) if begin <= onset < end]
    if not within:
        return 1.0
    first, last = within[0], within[-1]
    following = sentence.onsets[last + 1] if last + 1 < len(sentence.onsets) else end
    start, stop = (int(at * sentence.sample_rate) for at in (sentence.onsets[first], following))
    transcript = judge.hear(sentence.pcm[start:stop], sentence.sample_rate)
    return word_error_rate([" ".join(words[first : last + 1])], [transcript])
