"""What the judges say about each utterance, from which the figures are computed, and how fast a
voice follows the slider: its rate around a change in the middle of an utterance.

Syllables come from the text, the times of the words from an aligner that gets the speech; the
talker's own onsets are used only where the aligner found no words. The curve of a rate is a mean
over utterances, because one word's length hides a change.

Invariant: a verdict is a plain value that JSON can hold, made the same way whoever spoke.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import Enum
from functools import cache, lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from engine.text import syllables
from engine.training.corpus.matching import Gaps, gaps
from engine.training.corpus.recordings import Aligner
from engine.training.evaluation.judging import (
    Naturalness,
    Recogniser,
    SoundRecogniser,
    naturalness,
    word_errors,
    words,
)
from engine.training.evaluation.performance import Spoken
from engine.training.evaluation.talkers import Rates, Talker, phonemizer_library
from engine.training.evaluation.whisper_judge import WhisperJudge, words_wrong
from engine.training.fetching import fetch
from engine.training.teachers import sounds

FORMAT: Final = "verdicts 4"  # change it when a judge changes: then saved results are judged again

RESAMPLES: Final = 1000  # of the bootstrap that gives an interval
STRIDE: Final = 0.1  # seconds between two points of the curve
WINDOW: Final = 1.0  # seconds around each point, half before and half after it
SHARE: Final = 0.9  # of the way
BEFORE: Final = (-8.0, -0.5)  # seconds around the change that count as before it
Curve = npt.NDArray[np.float64]


class Judge(Enum):
    """Who recognises the words; the same for all talkers."""

    WHISPER = "Whisper"
    BIGRAM = "bigram"  # pocketsphinx that knows which sentences may come
    OPEN = "open"  # pocketsphinx that does not


@dataclass(frozen=True)
class Judges:
    """Which judges listen. `known` = the sentences of the bigram."""

    known: tuple[str, ...]
    open: bool = False  # also with the open language model
    sounds: bool = False  # also sound by sound, and where each word begins
    natural: int = 0  # how many utterances DNSMOS judges as well
    whisper: bool = True


@dataclass(frozen=True)
class Verdict:
    """The judges' results for one utterance. Times in seconds; None = that judge was not asked or
    had no answer."""

    talker: str
    text: str
    seconds: float
    rate: float  # known syllables over speech time, SPS
    ended: bool
    cpu_seconds: float
    first_ms: float
    switched: float | None
    onsets: tuple[float, ...]  # according to the talker
    starts: tuple[float, ...]  # according to the aligner; empty when it failed
    heard: str  # with the bigram
    heard_open: str | None
    heard_whisper: str | None
    wrong: int | None  # words, according to Whisper
    gaps: Gaps | None  # sounds left out and sounds added
    naturalness: Naturalness | None

    @property
    def onset_gaps(self) -> list[float]:
        """Distances of the talker's onsets from the aligner's."""
        if len(self.onsets) != len(self.starts):
            return []
        return [abs(a - b) for a, b in zip(self.onsets, self.starts, strict=True)]


def judge(
    talkers: tuple[Talker, ...], texts: tuple[str, ...], rates: Rates, judges: Judges
) -> dict[str, Any]:
    """A part: the talkers take turns with the texts; returns the verdicts under the key
    "verdicts"."""
    sentences = []
    for number, talker in enumerate(talkers):
        share = texts[number :: len(talkers)]
        sentences += [(talker.name, sentence) for sentence in talker.speak(share, rates)]
    natural = {n * len(sentences) // max(1, judges.natural) for n in range(judges.natural)}
    verdicts = [
        _verdict(name, sentence, judges, ask_natural=number in natural)
        for number, (name, sentence) in enumerate(sentences)
    ]
    return {"verdicts": [asdict(verdict) for verdict in verdicts]}


def read_verdicts(result: dict[str, Any] | None) -> list[Verdict]:
    """The verdicts of a part's result; none when it has not been done."""
    return [_read(row) for row in result["verdicts"]] if result else []


def errors(verdicts: Sequence[Verdict], judge: Judge = Judge.WHISPER) -> float | None:
    """Word error rate of all together; None when there is nothing to judge."""
    wrong, count = _counts(verdicts, judge)
    return sum(wrong) / sum(count) if count else None


def interval(verdicts: Sequence[Verdict], judge: Judge = Judge.WHISPER) -> float:
    """Half the width of the 95 % interval of `errors`, by resampling the utterances; 0 for none."""
    wrong, counts = map(np.asarray, _counts(verdicts, judge))
    if not len(counts):
        return 0.0
    rows = np.random.default_rng(0).integers(len(counts), size=(RESAMPLES, len(counts)))
    low, high = np.percentile(wrong[rows].sum(1) / counts[rows].sum(1), (2.5, 97.5))
    return float(high - low) / 2


def _counts(verdicts: Sequence[Verdict], judge: Judge) -> tuple[list[int], list[int]]:
    """Words wrong and words meant of every utterance that the judge heard."""
    wrong, counts = [], []
    for verdict in verdicts:
        count = _wrong(verdict, judge)
        if count is not None:
            wrong.append(count)
            counts.append(len(words(verdict.text)))
    return wrong, counts


def _wrong(verdict: Verdict, judge: Judge) -> int | None:
    match judge:
        case Judge.WHISPER:
            return verdict.wrong
        case Judge.BIGRAM:
            return word_errors(verdict.text, verdict.heard)
        case Judge.OPEN:
            transcript = verdict.heard_open
            return None if transcript is None else word_errors(verdict.text, transcript)


@lru_cache(maxsize=2)
def bigram_judge(sentences: tuple[str, ...]) -> Recogniser:
    """A recogniser of these sentences."""
    return Recogniser(sentences)


# Each is loaded once in a process.
_open_judge = cache(Recogniser)
_sound_judge = cache(SoundRecogniser)
_aligner = cache(Aligner)
_whisper = cache(lambda: WhisperJudge(fetch("whisper-base")))


def _verdict(name: str, sentence: Spoken, judges: Judges, *, ask_natural: bool) -> Verdict:
    pcm, sample_rate = sentence.pcm, sentence.sample_rate
    aligned = judges.sounds or sentence.switched is not None
    transcript = _whisper().hear(pcm, sample_rate) if judges.whisper else None
    return Verdict(
        talker=name,
        text=sentence.text,
        seconds=len(pcm) / sample_rate,
        rate=sentence.rate,
        ended=sentence.ended,
        cpu_seconds=sentence.cpu_seconds,
        first_ms=sentence.first_ms,
        switched=sentence.switched,
        onsets=sentence.onsets,
        starts=tuple(_aligner().word_starts(pcm, sample_rate, sentence.text)) if aligned else (),
        heard=bigram_judge(judges.known).hear(pcm, sample_rate),
        heard_open=_open_judge().hear(pcm, sample_rate) if judges.open else None,
        heard_whisper=transcript,
        wrong=None
        if transcript is None
        else words_wrong(sentence.text, transcript, phonemizer_library()),
        gaps=_gaps(sentence) if judges.sounds else None,
        naturalness=naturalness(sentence) if ask_natural else None,
    )


def _gaps(sentence: Spoken) -> Gaps | None:
    """The text's sounds compared with those heard; None for a text without a spelling."""
    words = sounds.phoned(sentence.text, phonemizer_library())
    try:
        phones = [
            sound for word in words for phone in word.phones for sound in sounds.of_ipa(phone)
        ]
    except KeyError:
        return None
    return gaps(phones, _sound_judge().hear(sentence.pcm, sentence.sample_rate))


def _read(row: dict[str, Any]) -> Verdict:
    times = {key: tuple(row[key]) for key in ("onsets", "starts")}
    gap_counts, natural = row["gaps"], row["naturalness"]
    inner = {
        "gaps": Gaps(**gap_counts) if gap_counts else None,
        "naturalness": Naturalness(**natural) if natural else None,
    }
    return Verdict(**{**row, **times, **inner})


@dataclass(frozen=True)
class Settling:
    """Rates before and long after the change, SPS, and the seconds until 90 % of the change is
    done, 0.4 s of which come from the window. None = never.
    """

    before: float
    after: float
    seconds: float | None


def settling(verdicts: Sequence[Verdict]) -> Settling | None:
    """From utterances with one change of rate each. None when no utterance has enough speech around
    it."""
    times = np.arange(BEFORE[0], -BEFORE[0], STRIDE)
    curves = [_rates(verdict, times) for verdict in verdicts if verdict.switched is not None]
    if not curves:
        return None
    table = np.stack(curves)
    voiced = ~np.isnan(table).all(axis=0)
    times, mean = times[voiced], np.nanmean(table[:, voiced], axis=0)
    earlier, later = mean[times < BEFORE[1]], mean[times > WINDOW / 2]
    if not len(earlier) or not len(later):
        return None
    before, after = float(np.mean(earlier)), float(np.mean(later[len(later) // 3 :]))
    way = (mean - before) / (after - before) if after != before else np.ones_like(mean)
    arrivals = times[(times >= 0) & (way >= SHARE)]
    return Settling(before, after, float(arrivals[0]) if len(arrivals) else None)


def _rates(verdict: Verdict, times: Curve) -> Curve:
    """SPS at seconds from the change; NaN where there is no speech."""
    words = verdict.text.split()
    starts = verdict.starts if len(verdict.starts) == len(words) else verdict.onsets
    empty: Curve = np.full(len(times), np.nan)
    if len(starts) != len(words) or verdict.switched is None:
        return empty
    # Syllables before each word; the last word's end is not known, so the curve ends at its start.
    counts = np.cumsum([0, *(syllables.count(word) for word in words[:-1])])
    moments = np.asarray(starts)
    early, late = (verdict.switched + times + side * WINDOW / 2 for side in (-1, 1))
    rates: Curve = (np.interp(late, moments, counts) - np.interp(early, moments, counts)) / WINDOW
    rates[(early < moments[0]) | (late > moments[-1])] = np.nan
    return rates
