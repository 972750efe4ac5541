"""The judges' results for an utterance, and figures of many results.

Invariant: a result is a plain value that JSON can hold, made the same way for all voices.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from engine.training.evaluation.performance import Spoken
from engine.training.evaluation.recognisers import (
    Aligner,
    WhisperJudge,
    naturalness,
    words,
    words_wrong,
)
from engine.training.evaluation.voices import LiveVoice, phonemizer_library
from engine.training.fetching import fetch
from engine.typed_values import build

FORMAT: Final = "results 8"  # change it when a judge changes: then saved results are judged again

RESAMPLES: Final = 1000  # of the bootstrap that gives an interval


@dataclass(frozen=True)
class Judges:
    """Which judges listen."""

    natural: int = 0  # how many utterances DNSMOS judges as well
    whisper: bool = True
    onsets: bool = False  # also where each word begins


@dataclass(frozen=True)
class Result:
    """The judges' results for one utterance. Times in seconds; None = that judge was not asked or
    had no answer.
    """

    voice: str
    text: str
    rate: float  # known syllables over speech time, SPS
    ended: bool
    transcript: str | None  # by Whisper
    wrong: int | None  # words, according to Whisper
    onsets: tuple[float, ...]  # according to the voice
    starts: tuple[float, ...]  # according to the aligner; empty when it failed or was not asked
    naturalness: float | None  # DNSMOS P.808

    @property
    def onset_gaps(self) -> list[float]:
        """Distances of the voice's onsets from the aligner's."""
        if len(self.onsets) != len(self.starts):
            return []
        return [abs(own - other) for own, other in zip(self.onsets, self.starts, strict=True)]


def judge(
    voices: tuple[LiveVoice, ...], texts: tuple[str, ...], rate: float, judges: Judges
) -> dict[str, Any]:
    """A task: the voices take turns with the texts; the results are under the key "results"."""
    said = []
    for number, voice in enumerate(voices):
        share = texts[number :: len(voices)]
        said += [(voice.name, sentence) for sentence in voice.speak(share, rate)]
    natural = {n * len(said) // max(1, judges.natural) for n in range(judges.natural)}
    results = [
        _judged(name, sentence, judges, ask_natural=number in natural)
        for number, (name, sentence) in enumerate(said)
    ]
    return {"results": [asdict(result) for result in results]}


def read_results(found: dict[str, Any] | None) -> tuple[Result, ...]:
    """The results of a task; none when it has not been done."""
    return tuple(build(Result, row) for row in found["results"]) if found else ()


def errors(results: Sequence[Result]) -> float | None:
    """Word error rate of all together; None when there is nothing to judge."""
    wrong, count = _counts(results)
    return sum(wrong) / sum(count) if count else None


def interval(results: Sequence[Result]) -> float:
    """Half the width of the 95 % interval of `errors`, by resampling the utterances; 0 for none."""
    wrong, counts = map(np.asarray, _counts(results))
    if not len(counts):
        return 0.0
    rows = np.random.default_rng(0).integers(len(counts), size=(RESAMPLES, len(counts)))
    low, high = np.percentile(wrong[rows].sum(1) / counts[rows].sum(1), (2.5, 97.5))
    return float(high - low) / 2


def _counts(results: Sequence[Result]) -> tuple[list[int], list[int]]:
    """Words wrong and words meant of every utterance that Whisper heard."""
    heard = [(each.wrong, len(words(each.text))) for each in results if each.wrong is not None]
    return [wrong for wrong, _ in heard], [count for _, count in heard]


# Each is loaded once in a process.
_whisper = cache(lambda: WhisperJudge(fetch("whisper-base")))
_aligner = cache(Aligner)


def _judged(name: str, sentence: Spoken, judges: Judges, *, ask_natural: bool) -> Result:
    pcm, sample_rate, text = sentence.pcm, sentence.sample_rate, sentence.text
    score = naturalness(sentence) if ask_natural else None
    transcript = _whisper().hear(pcm, sample_rate) if judges.whisper else None
    return Result(
        voice=name,
        text=text,
        rate=sentence.rate,
        ended=sentence.ended,
        transcript=transcript,
        wrong=None if transcript is None else words_wrong(text, transcript, phonemizer_library()),
        onsets=sentence.onsets,
        starts=tuple(_aligner().word_starts(pcm, sample_rate, text)) if judges.onsets else (),
        naturalness=score.p808 if score else None,
    )
