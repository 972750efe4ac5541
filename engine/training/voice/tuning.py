"""Tunes a pack's rate table until the voice really speaks at each rate.

The corpus says which duration tokens a rate has. How strongly a small voice must be pulled towards
them, and how far beyond, only its speech shows. For every row a few strengths are tried on unseen
sentences, then histograms of neighbouring rates, which stretches a compressed scale. Invariant: a
row is kept only if speech came closer to its rate, or fewer words were lost.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any, Final

from engine.training.codec.speech import is_validation
from engine.training.corpus.shards import read_shards
from engine.training.judge.judging import word_error_rate
from engine.training.judge.performance import say, syllables_of
from engine.training.judge.talkers import loaded_voxtream2, pack_hashes
from engine.training.judge.verdicts import bigram_judge
from engine.training.run import Run
from engine.training.tasks import Place, Task, do_tasks, result
from engine.tts.voxtream.rate import RateTarget, rate_target
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser

STRENGTHS: Final = (6.0, 11.0, 20.0)  # of the pull; the weakest that is enough is the best
NEAR: Final = 0.05  # of the rate: near enough to stop
FURTHER: Final = 2  # histograms of other rates tried
WORDS: Final = (6, 12)  # of a sentence to tune with
KEPT: Final = 0.15  # share of words; if more are lost, the strength counts as too high


@dataclass(frozen=True)
class Trial:
    """The result of trying a row: measured SPS and share of words lost."""

    target: RateTarget
    rate: float
    lost: float

    def cost(self, target: float) -> float:
        """The rate's error, plus the share of lost words beyond what is always lost."""
        return abs(self.rate - target) / target + max(0.0, self.lost - KEPT)


def tuned(
    run: Run, pack: Path, counts: Mapping[float, tuple[int, ...]], table: Mapping[float, RateTarget]
) -> dict[float, RateTarget]:
    """The table with every row tuned on the pack in a folder; `counts` = the corpus's histograms,
    also beyond the table's ends. Rows are tried in parallel and saved, so that tuning can be
    resumed.
    """
    seconds = run.recipe.export.tuning_seconds
    if not seconds:
        return dict(table)
    texts = _texts(run)
    folder = run.stage("export") / "tuning"
    folder.mkdir(exist_ok=True)
    hashes = pack_hashes(pack)  # including its voices and its sampling
    parts = {}
    for rate, row in table.items():
        arguments = (Place(pack), rate, row, tuple(counts.items()), _enough(texts, rate, seconds))
        parts[rate] = Task(f"{rate:g} SPS", tune, arguments, hashes)
    do_tasks("tuning", folder, tuple(parts.values()), run.workers, fresh=True)
    return {rate: _row(result(part, folder)) for rate, part in parts.items()}


def tune(
    pack: str,
    rate: float,
    row: RateTarget,
    counts: tuple[tuple[float, tuple[int, ...]], ...],
    texts: tuple[str, ...],
) -> dict[str, Any]:
    """A part: the row that makes the voice speak at `rate`, and all trials."""
    trials: list[Trial] = []
    for target in _candidates(rate, row, dict(counts), trials):
        # Not a comprehension: the next candidate depends on the trials so far.
        trials.append(_trial(loaded_voxtream2(pack), target, rate, texts))  # noqa: PERF401
    best = min(trials, key=lambda trial: trial.cost(rate))
    return {"row": asdict(best.target), "trials": [asdict(trial) for trial in trials]}


def _candidates(
    rate: float, row: RateTarget, counts: Mapping[float, tuple[int, ...]], trials: list[Trial]
) -> Iterator[RateTarget]:
    """What to try next, given the trials so far."""
    for strength in STRENGTHS:
        yield replace(row, weight=strength)
        if trials[-1].cost(rate) <= NEAR:
            return
    rows = {place: replace(row, counts=histogram) for place, histogram in counts.items()}
    target = rate
    for _ in range(FURTHER):
        best = min(trials, key=lambda trial: trial.cost(rate))
        target = min(max(target + rate - best.rate, min(rows)), max(rows))
        candidate = replace(rate_target(target, rows), weight=best.target.weight)
        if abs(best.rate - rate) <= NEAR * rate or any(t.target == candidate for t in trials):
            return
        yield candidate


def _trial(
    model: VoxtreamSynthesiser, target: RateTarget, rate: float, texts: tuple[str, ...]
) -> Trial:
    """All texts at a rate, by the pack's voices in turn, with one row as the whole table."""
    trial_model = model.with_rates({rate: target})
    voices = trial_model.voices()
    sentences = [
        say(trial_model, voices[number % len(voices)], text, (rate,))
        for number, text in enumerate(texts)
    ]
    transcripts = [bigram_judge(texts).hear(each.pcm, each.sample_rate) for each in sentences]
    return Trial(target, mean(each.rate for each in sentences), word_error_rate(texts, transcripts))


def _texts(run: Run) -> tuple[str, ...]:
    """Sentences of the validation side whose words the judge knows."""
    entries = [entry for shard in read_shards(run.stage("corpus")) for entry in shard.entries]
    texts = sorted({entry.text for entry in entries if is_validation(run, entry.text)})
    plain = [text for text in texts if WORDS[0] <= text.count(" ") + 1 <= WORDS[1]]
    judge = bigram_judge(tuple(plain))
    return tuple(text for text in plain if judge.knows(text))


def _enough(texts: Sequence[str], rate: float, seconds: float) -> tuple[str, ...]:
    """As many texts as last so long at a rate, at least one."""
    lesson: list[str] = []
    syllables = 0
    for text in texts:
        if lesson and syllables + syllables_of(text) > rate * seconds:
            break
        lesson.append(text)
        syllables += syllables_of(text)
    return tuple(lesson)


def _row(best: dict[str, Any] | None) -> RateTarget:
    """The row that a part chose."""
    assert best is not None  # all parts were done
    row = best["row"]
    return RateTarget(tuple(row["counts"]), row["weight"], row["guidance"])
