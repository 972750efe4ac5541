"""The results of judging: one utterance heard by every judge, and what many of them say together.

Invariant: a result is a plain value that JSON can hold, made the same way whoever spoke.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from functools import cache, lru_cache
from typing import Any, Final

import numpy as np

from engine.training.evaluation.performance import Spoken
from engine.training.evaluation.recognisers import (
    Naturalness,
    Recogniser,
    WhisperJudge,
    naturalness,
    word_errors,
    words,
    words_wrong,
)
from engine.training.evaluation.voices import LiveVoice, Rates, phonemizer_library
from engine.training.fetching import fetch

FORMAT: Final = "results 5"  # change it when a judge changes: then saved results are judged again

RESAMPLES: Final = 1000  # of the bootstrap that gives an interval


class Judge(Enum):
    """Who recognises the words; the same for all voices."""

    WHISPER = "Whisper"
    BIGRAM = "bigram"  # pocketsphinx that knows which sentences may come


@dataclass(frozen=True)
class Judges:
    """Which judges listen. `known` = the sentences of the bigram."""

    known: tuple[str, ...]
    natural: int = 0  # how many utterances DNSMOS judges as well
    whisper: bool = True


@dataclass(frozen=True)
class Result:
    """The judges' results for one utterance; None = that judge was not asked or had no answer."""

    voice: str
    text: str
    rate: float  # known syllables over speech time, SPS
    ended: bool
    heard: str  # with the bigram
    heard_whisper: str | None
    wrong: int | None  # words, according to Whisper
    naturalness: Naturalness | None


def judge(
    voices: tuple[LiveVoice, ...], texts: tuple[str, ...], rates: Rates, judges: Judges
) -> dict[str, Any]:
    """A task: the voices take turns with the texts; the results are under the key "results"."""
    said = []
    for number, voice in enumerate(voices):
        share = texts[number :: len(voices)]
        said += [(voice.name, sentence) for sentence in voice.speak(share, rates)]
    natural = {n * len(said) // max(1, judges.natural) for n in range(judges.natural)}
    results = [
        _judged(name, sentence, judges, ask_natural=number in natural)
        for number, (name, sentence) in enumerate(said)
    ]
    return {"results": [asdict(result) for result in results]}


def read_results(found: dict[str, Any] | None) -> tuple[Result, ...]:
    """The results of a task; none when it has not been done."""
    return tuple(map(_read, found["results"])) if found else ()


def errors(results: Sequence[Result], judge: Judge = Judge.WHISPER) -> float | None:
    """Word error rate of all together; None when there is nothing to judge."""
    wrong, count = _counts(results, judge)
    return sum(wrong) / sum(count) if count else None


def interval(results: Sequence[Result], judge: Judge = Judge.WHISPER) -> float:
    """Half the width of the 95 % interval of `errors`, by resampling the utterances; 0 for none."""
    wrong, counts = map(np.asarray, _counts(results, judge))
    if not len(counts):
        return 0.0
    rows = np.random.default_rng(0).integers(len(counts), size=(RESAMPLES, len(counts)))
    low, high = np.percentile(wrong[rows].sum(1) / counts[rows].sum(1), (2.5, 97.5))
    return float(high - low) / 2


def _counts(results: Sequence[Result], judge: Judge) -> tuple[list[int], list[int]]:
    """Words wrong and words meant of every utterance that the judge heard."""
    wrong, counts = [], []
    for result in results:
        count = _wrong(result, judge)
        if count is not None:
            wrong.append(count)
            counts.append(len(words(result.text)))
    return wrong, counts


def _wrong(result: Result, judge: Judge) -> int | None:
    return result.wrong if judge is Judge.WHISPER else word_errors(result.text, result.heard)


@lru_cache(maxsize=2)
def bigram_judge(sentences: tuple[str, ...]) -> Recogniser:
    """A recogniser of these sentences."""
    return Recogniser(sentences)


_whisper = cache(lambda: WhisperJudge(fetch("whisper-base")))


def _judged(name: str, sentence: Spoken, judges: Judges, *, ask_natural: bool) -> Result:
    pcm, sample_rate, text = sentence.pcm, sentence.sample_rate, sentence.text
    transcript = _whisper().hear(pcm, sample_rate) if judges.whisper else None
    return Result(
        voice=name,
        text=text,
        rate=sentence.rate,
        ended=sentence.ended,
        heard=bigram_judge(judges.known).hear(pcm, sample_rate),
        heard_whisper=transcript,
        wrong=None if transcript is None else words_wrong(text, transcript, phonemizer_library()),
        naturalness=naturalness(sentence) if ask_natural else None,
    )


def _read(row: dict[str, Any]) -> Result:
    natural = row["naturalness"]
    return Result(**{**row, "naturalness": Naturalness(**natural) if natural else None})
