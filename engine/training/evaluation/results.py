"""The results of judging: one utterance heard by every judge, and what many of them say together,
such as how fast a voice follows the slider: its rate around a change in the middle of an utterance.

Syllables come from the text, the times of the words from an aligner that gets the speech; the
voice's own onsets are used only where the aligner found no words. The curve of a rate is a mean
over utterances, because one word's length hides a change.

Invariant: a result is a plain value that JSON can hold, made the same way whoever spoke.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from functools import cache, lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from engine.training.corpus.aligner import Aligner
from engine.training.corpus.matching import longest_gap
from engine.training.evaluation.performance import Spoken, syllables_of
from engine.training.evaluation.recognisers import (
    Naturalness,
    Recogniser,
    SoundRecogniser,
    WhisperJudge,
    naturalness,
    word_errors,
    words,
    words_wrong,
)
from engine.training.evaluation.voices import LiveVoice, Rates, phonemizer_library
from engine.training.fetching import fetch
from engine.training.teachers import sounds

FORMAT: Final = "results 6"  # change it when a judge changes: then saved results are judged again

RESAMPLES: Final = 1000  # of the bootstrap that gives an interval
STRIDE: Final = 0.1  # seconds between two points of the curve of a rate
WINDOW: Final = 1.0  # seconds around each point, half before and half after it
SHARE: Final = 0.9  # of the way
BEFORE: Final = (-8.0, -0.5)  # seconds around the change that count as before it
Curve = npt.NDArray[np.float64]


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
    sounds: bool = False  # also sound by sound, and where each word begins


@dataclass(frozen=True)
class Result:
    """The judges' results for one utterance. Times in seconds; None = that judge was not asked or
    had no answer."""

    voice: str
    text: str
    rate: float  # known syllables over speech time, SPS
    ended: bool
    heard: str  # with the bigram
    heard_whisper: str | None
    wrong: int | None  # words, according to Whisper
    gap: int | None  # the longest run of sounds left out or added
    switched: float | None  # when the second of two rates was asked for
    onsets: tuple[float, ...]  # according to the voice
    starts: tuple[float, ...]  # according to the aligner; empty when it failed or was not asked
    naturalness: Naturalness | None

    @property
    def onset_gaps(self) -> list[float]:
        """Distances of the voice's onsets from the aligner's."""
        if len(self.onsets) != len(self.starts):
            return []
        return [abs(own - other) for own, other in zip(self.onsets, self.starts, strict=True)]


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


# Each is loaded once in a process.
_whisper = cache(lambda: WhisperJudge(fetch("whisper-base")))
_sound_judge = cache(SoundRecogniser)
_aligner = cache(Aligner)


def _judged(name: str, sentence: Spoken, judges: Judges, *, ask_natural: bool) -> Result:
    pcm, sample_rate, text = sentence.pcm, sentence.sample_rate, sentence.text
    transcript = _whisper().hear(pcm, sample_rate) if judges.whisper else None
    is_aligned = judges.sounds or sentence.switched is not None
    return Result(
        voice=name,
        text=text,
        rate=sentence.rate,
        ended=sentence.ended,
        heard=bigram_judge(judges.known).hear(pcm, sample_rate),
        heard_whisper=transcript,
        wrong=None if transcript is None else words_wrong(text, transcript, phonemizer_library()),
        gap=_gap(sentence) if judges.sounds else None,
        switched=sentence.switched,
        onsets=sentence.onsets,
        starts=tuple(_aligner().word_starts(pcm, sample_rate, text)) if is_aligned else (),
        naturalness=naturalness(sentence) if ask_natural else None,
    )


def _gap(sentence: Spoken) -> int | None:
    """The text's sounds compared with those heard; None for a text without a spelling."""
    words = sounds.phoned(sentence.text, phonemizer_library())
    try:
        meant = [sound for word in words for phone in word.phones for sound in sounds.of_ipa(phone)]
    except KeyError:
        return None
    return longest_gap(meant, _sound_judge().hear(sentence.pcm, sentence.sample_rate))


def _read(row: dict[str, Any]) -> Result:
    natural = row["naturalness"]
    times = {key: tuple(row[key]) for key in ("onsets", "starts")}
    return Result(**{**row, **times, "naturalness": Naturalness(**natural) if natural else None})


@dataclass(frozen=True)
class Settling:
    """Rates before and long after the change, SPS, and the seconds until 90 % of the change is
    done, 0.4 s of which come from the window; infinite = never.
    """

    before: float
    after: float
    seconds: float


def settling(results: Sequence[Result]) -> Settling | None:
    """From utterances with one change of rate each. None when no utterance has enough speech around
    it."""
    times = np.arange(BEFORE[0], -BEFORE[0], STRIDE)
    curves = [_rates(result, times) for result in results if result.switched is not None]
    if not curves:
        return None
    table = np.stack(curves)
    voiced = ~np.isnan(table).all(axis=0)
    times, mean = times[voiced], np.nanmean(table[:, voiced], axis=0)
    earlier, later = mean[times < BEFORE[1]], mean[times > WINDOW / 2]
    if not len(earlier) or not len(later):
        return None
    before, after = float(np.mean(earlier)), float(np.mean(later[len(later) // 3 :]))
    way = (mean - before) / (after - before) if after != before else np.zeros_like(mean)
    arrivals = times[(times >= 0) & (way >= SHARE)]
    return Settling(before, after, float(arrivals[0]) if len(arrivals) else float("inf"))


def _rates(result: Result, times: Curve) -> Curve:
    """SPS at seconds from the change; NaN where there is no speech."""
    words = result.text.split()
    starts = result.starts or result.onsets
    empty: Curve = np.full(len(times), np.nan)
    if len(starts) != len(words) or result.switched is None:
        return empty
    # Syllables before each word; the last word's end is not known, so the curve ends at its start.
    counts = np.cumsum([0, *(syllables_of(word) for word in words[:-1])])
    moments = np.asarray(starts)
    early, late = (result.switched + times + side * WINDOW / 2 for side in (-1, 1))
    rates: Curve = (np.interp(late, moments, counts) - np.interp(early, moments, counts)) / WINDOW
    rates[(early < moments[0]) | (late > moments[-1])] = np.nan
    return rates
