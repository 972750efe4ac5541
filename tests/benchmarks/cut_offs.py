"""The end of a turn by the measures of LiveKit's eot-bench, on other turns: its recordings are not
to be had everywhere. So the figures say what the words add to a silence, on the same turns; they
cannot be compared with the published ones.

A silence inside a turn of 0.2 to 5 s is cut off when a policy fires before it is over; the latency
is how long a policy waits after the last sound of a turn. A policy has a threshold for the
judgement of the words, the least silence and a timeout; all on eot-bench's grid are tried, and the
best within a budget counts, as there. Voice activity alone fires after a silence of fixed length.
Computing time is left out, as there; that of the transcripts is printed.
Turns are those of the test set, the check and the requests (`turn_texts.py`), by flite's voices.
Their pauses are as long as voice activity alone finds those of eot-bench's English turns.

    python -m tests.benchmarks.cut_offs                        some ten minutes
    python -m tests.benchmarks.cut_offs --recordings FOLDER    each sound file in it is a turn
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile
import soxr

from engine.asr.base import Recogniser
from engine.asr.completeness import Completeness
from engine.asr.pick import NAMES, load
from engine.audio.base import Pcm
from engine.audio.vad import SAMPLE_RATE, WINDOW, Endpointer, SpeechPaused, SpeechResumed, Vad
from engine.runtime.factories import standard_factories
from engine.runtime.turn.waiting import PAUSE_MS, Patience
from engine.settings import RecogniserSettings
from tests.benchmarks.turn_taking import trimmed
from tests.benchmarks.turn_texts import CHECK, PAUSE, REQUESTS, TEST
from tests.simulation import people

# The share of eot-bench's English pauses that are longer: its row for voice activity alone.
LONGER = ((0.2, 1.0), (0.3, 0.556), (0.6, 0.217), (1.0, 0.1), (1.6, 0.05), (5.0, 0.0))
SHORTEST_S, LONGEST_S = 0.2, 5.0  # pauses that count
THRESHOLDS = range(-1, 4)  # the judgement must be above it: -1 = any will do, 3 = none will
DELAYS_S = np.arange(2, 11) / 10
TIMEOUTS_S = np.arange(2, 8) / 2
SILENCES_S = np.arange(2, 51) / 10  # of voice activity alone
DRAWS = 2000  # of turns, for the intervals
MARGIN_S = 1.0  # of hiss around a turn
HISS = 2e-4
LEVELS = tuple(Completeness)  # from the likeliest to go on
PATIENCE = ("quick", "balanced", "patient")

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Silence:
    """One silence of a turn; `final` = the turn is over."""

    turn: int
    seconds: float
    judged: Completeness
    final: bool


@dataclass(frozen=True)
class Policies:
    """Every policy on every silence."""

    cut: Array  # [policies, pauses], 1 = cut off
    latency: Array  # [policies, ends], seconds


def pause_lengths(count: int) -> Array:
    """As many as asked for, distributed as LONGER says, in a mixed order."""
    seconds, shares = np.array(LONGER).T
    lengths = np.interp((np.arange(count) + 0.5) / count, shares[::-1], seconds[::-1])
    return np.random.default_rng(3).permutation(lengths)


def spoken_turns() -> Iterator[Pcm]:
    """The sentences by the voices in turn, their bars made pauses."""
    texts = [*TEST.complete, *TEST.open, *TEST.ambiguous]
    texts += [*CHECK.complete, *CHECK.open, *REQUESTS.complete]
    lengths = iter(pause_lengths(sum(text.count(PAUSE) for text in texts)))
    for number, text in enumerate(texts):
        voice = people.VOICES[number % len(people.VOICES)]
        parts: list[Pcm] = []
        for part in text.split(PAUSE):
            if parts:
                parts.append(np.zeros(round(next(lengths) * SAMPLE_RATE), np.float32))
            parts.append(trimmed(people.spoken(part.strip(), voice).pcm))
        yield np.concatenate(parts)


def recorded_turns(folder: Path) -> Iterator[Pcm]:
    """The sound files of a folder, by name."""
    for file in sorted(folder.iterdir()):
        if file.suffix in (".flac", ".wav", ".opus"):
            pcm, rate = soundfile.read(file, dtype="float32", always_2d=True)
            yield soxr.resample(pcm[:, 0], rate, SAMPLE_RATE)


def silences(
    turn: int, pcm: Pcm, recogniser: Recogniser, judge: Callable[[str], Completeness]
) -> Iterator[tuple[Silence, float]]:
    """The silences of a turn, with the seconds that the transcript of the words before it took."""
    vad = Vad()
    endpointer = Endpointer(end_silence_ms=3_600_000, pause_ms=PAUSE_MS)
    recognition = recogniser.open()
    began, judged, took_s = 0, Completeness.UNSURE, 0.0
    for first in range(0, len(pcm), WINDOW):
        recognition.push(pcm[first : first + WINDOW])
        for event in endpointer.push(vad.push(pcm[first : first + WINDOW])):
            if isinstance(event, SpeechPaused):
                asked = time.perf_counter()
                transcript = recognition.interim(lambda: True)
                took_s = time.perf_counter() - asked
                began, judged = event.sample, judge(transcript.text if transcript else "")
            elif isinstance(event, SpeechResumed):
                seconds = (event.sample - began) / SAMPLE_RATE
                yield Silence(turn, seconds, judged, final=False), took_s
    recognition.close()
    yield Silence(turn, LONGEST_S, judged, final=True), took_s


def with_hiss(pcm: Pcm, number: int) -> Pcm:
    """As a microphone hears it in a quiet room."""
    margin = np.zeros(round(MARGIN_S * SAMPLE_RATE), np.float32)
    pcm = np.concatenate([margin, pcm, margin])
    hiss = np.random.default_rng(number).normal(0, HISS, len(pcm))
    return (pcm + hiss).astype(np.float32)


def _fire(fires_s: Array, pauses: list[Silence]) -> Array:
    return (np.array([pause.seconds for pause in pauses]) > fires_s + 1e-9).astype(float)


def by_words(pauses: list[Silence], ends: list[Silence]) -> Policies:
    """eot-bench's grid of thresholds, least silences and timeouts."""
    judged, final = (
        np.array([LEVELS.index(silence.judged) for silence in found]) for found in (pauses, ends)
    )
    cut, latency = [], []
    for threshold, delay, timeout in product(THRESHOLDS, DELAYS_S, TIMEOUTS_S):
        cut.append(_fire(np.where(judged > threshold, delay, timeout), pauses))
        latency.append(np.where(final > threshold, delay, timeout))
    return Policies(np.array(cut), np.array(latency))


def by_silence(pauses: list[Silence], ends: list[Silence]) -> Policies:
    """Voice activity alone."""
    cut = [_fire(np.full(len(pauses), silence), pauses) for silence in SILENCES_S]
    return Policies(np.array(cut), np.repeat(SILENCES_S[:, None], len(ends), axis=1))


def as_shipped(name: str, pauses: list[Silence], ends: list[Silence]) -> Policies:
    """One policy: the silences of a setting."""
    wait_s = {level: ms / 1000 for level, ms in Patience.of(name).by_words.items()}
    cut = _fire(np.array([wait_s[pause.judged] for pause in pauses]), pauses)
    return Policies(cut[None], np.array([[wait_s[end.judged] for end in ends]]))


def _means(policies: Policies, pauses: list[Silence], ends: list[Silence]) -> tuple[Array, Array]:
    """Share cut off and mean latency [policies, 1 + DRAWS]: of the turns as they are, and of turns
    drawn from them.
    """
    turns = 1 + max(end.turn for end in ends)
    drawn = np.random.default_rng(1).multinomial(turns, np.full(turns, 1 / turns), DRAWS).T
    weights = np.concatenate([np.ones((turns, 1)), drawn], axis=1)
    of_pauses = weights[[pause.turn for pause in pauses]]
    of_ends = weights[[end.turn for end in ends]]
    cut = policies.cut @ of_pauses / of_pauses.sum(axis=0)
    return cut, policies.latency @ of_ends / of_ends.sum(axis=0)


def _best(wanted: Array, limited: Array, budget: float) -> Array:
    best: Array = np.where(limited <= budget + 1e-9, wanted, np.inf).min(axis=0)
    return best


def _shown(values: Array, factor: float, unit: str) -> str:
    """The value and its interval; a budget that no policy meets gives inf."""
    low, high = np.percentile(values[1:], (2.5, 97.5), method="nearest") * factor
    digits = 1 if unit == "%" else 0
    value = values[0] * factor
    return f"{value:.{digits}f} {unit} ({low:.{digits}f} to {high:.{digits}f})"


def report(name: str, found: list[Silence]) -> Iterator[str]:
    """Rows of a table."""
    ends = [silence for silence in found if silence.final]
    pauses = [s for s in found if not s.final and SHORTEST_S <= s.seconds <= LONGEST_S]
    yield f"{name}: {len(ends)} turns, {len(pauses)} pauses"
    for how, policies in (("silence", by_silence), ("words", by_words)):
        cut, latency = _means(policies(pauses, ends), pauses, ends)
        cells = [_shown(_best(cut, latency, budget), 100, "%") for budget in (0.3, 0.6)]
        cells += [_shown(_best(latency, cut, budget), 1000, "ms") for budget in (0.05, 0.1)]
        yield " | ".join([how, *cells])
    for patience in PATIENCE:
        cut, latency = _means(as_shipped(patience, pauses, ends), pauses, ends)
        cells = [_shown(cut[0], 100, "%"), _shown(latency[0], 1000, "ms")]
        alone = np.mean([pause.seconds > latency[0][0] for pause in pauses])
        yield " | ".join([patience, *cells, f"silence of that length: {100 * alone:.1f} %"])
    for what, some in (("pauses", pauses), ("ends", ends)):
        counts = {level.value: sum(s.judged is level for s in some) for level in LEVELS}
        yield f"{what} judged: {counts}"


def main() -> None:
    parser = argparse.ArgumentParser(description="False cut-offs and latency, as eot-bench.")
    parser.add_argument("--recordings", type=Path, help="a folder of turns instead of flite's")
    parser.add_argument("--recogniser", choices=NAMES, default="whisper")
    parser.add_argument("--first", type=int, help="only so many turns")
    given = parser.parse_args()
    factories, settings = standard_factories(), RecogniserSettings(given.recogniser)
    recogniser, judge = load(settings, factories.phrases()), factories.completeness(settings)
    turns = recorded_turns(given.recordings) if given.recordings else spoken_turns()
    found: list[tuple[Silence, float]] = []
    for number, pcm in enumerate(turns):
        if number == given.first:
            break
        found += silences(number, with_hiss(pcm, number), recogniser, judge)
    recogniser.close()
    for line in report(given.recogniser, [silence for silence, _ in found]):
        sys.stdout.write(line + "\n")
    took = statistics.median(took_s for _, took_s in found)
    sys.stdout.write(f"a transcript took {1000 * took:.0f} ms (median)\n")


if __name__ == "__main__":
    main()
