"""The stage `evaluate`: the exported pack measured on text, speakers and seeds it never met.

Prints the table of what the voice must reach, with the source synthesisers beside it.
Invariant: a figure that could not be measured here is printed as such, never left out or guessed.
"""

import json
import resource
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Final

import torch

from engine.training import cloning, naturalness
from engine.training.card import write_card
from engine.training.export import pack_folder
from engine.training.judging import Recogniser, word_error_rate, words
from engine.training.performance import Spoken, say, say_by_synthesiser
from engine.training.recipe import Recipe
from engine.training.recordings import Aligner
from engine.training.run import Progress, Run, cancellable, write_json
from engine.training.speakers import BASES
from engine.training.texts import Texts, read_texts
from engine.tts.base import TtsModel, Voice
from engine.tts.voxtream.checkpoint import Target
from engine.tts.voxtream.config import FULL
from engine.tts.voxtream.pack import load_pack

UNMEASURED: Final = "not measured here"
PLAIN_RATE: Final = 4.0  # SPS, where nothing else is asked
STEP: Final = (2.0, 6.0)
FRAME_SECONDS: Final = 0.08


@dataclass(frozen=True)
class Figure:
    """One row of the table: what, what it must reach, what the pack and the sources reached."""

    name: str
    target: str
    reached: str
    sources: str = ""


@dataclass
class _Bench:
    """The pack with its judges."""

    recipe: Recipe
    model: TtsModel
    texts: Texts
    closed: Recogniser
    open: Recogniser
    sentences: tuple[str, ...]
    check: Callable[[], None]

    def say_all(self, voice: Voice, rates: Sequence[float | None] = (PLAIN_RATE,)) -> list[Spoken]:
        """All test sentences in one voice."""
        return self.say_each(voice, self.sentences, rates)

    def say_each(
        self, voice: Voice, texts: Sequence[str], rates: Sequence[float | None] = (PLAIN_RATE,)
    ) -> list[Spoken]:
        said = []
        for text in texts:
            self.check()
            said.append(say(self.model, voice, text, rates))
        return said

    def errors(self, said: Sequence[Spoken], judge: Recogniser) -> float:
        """Word error rate of utterances."""
        heard = [judge.hear(spoken.pcm, spoken.sample_rate) for spoken in said]
        return word_error_rate([spoken.text for spoken in said], heard)


def evaluate_pack(run: Run) -> None:
    """Measure, print, and write figures.json and the pack's card."""
    inputs = run.require("export")
    torch.set_num_threads(1)
    target = Target(torch.device("cpu"), torch.float32, threads=1)
    model = load_pack(pack_folder(run), FULL, target)
    texts = read_texts(run)
    closed = Recogniser((*texts.test, *texts.short))
    known = tuple(text for text in texts.test if closed.knows(text))
    sentences = known[: run.recipe.evaluate.sentences]
    with cancellable() as check:
        bench = _Bench(run.recipe, model, texts, closed, Recogniser(), sentences, check)
        figures = _figures(run, bench)
    table = _table(figures)
    sys.stdout.write(table)
    folder = run.stage("evaluate")
    rows = [[row.name, row.target, row.reached, row.sources] for row in figures]
    write_json(folder / "figures.json", {"rows": rows})
    write_card(run, pack_folder(run), {"table": table})
    run.finish("evaluate", inputs, table=json.dumps(rows))


def _figures(run: Run, bench: _Bench) -> list[Figure]:
    voices = bench.model.voices()
    progress = Progress("evaluate", len(voices) + 5)
    said = {}
    for number, voice in enumerate(voices, start=1):
        said[voice.name] = bench.say_all(voice)
        progress.report(number, voice.name)
    figures = _intelligibility(bench, said)
    parts = (_rates, _steps, _extremes, _long)
    for number, part in enumerate(parts, start=len(voices) + 1):
        figures += part(bench, voices[0])
        progress.report(number)
    every = [spoken for voice in said.values() for spoken in voice]
    figures += [_onsets(every), *_speed(every)]
    figures += [Figure(*row) for row in naturalness.rows(every, _sources(bench, run.recipe))]
    figures.append(Figure(*cloning.row(run, bench.model)))
    return figures


def _sources(bench: _Bench, recipe: Recipe) -> list[Spoken]:
    """The test sentences by the first source of the recipe."""
    base = next(base for base in BASES if base.synthesiser in recipe.corpus.synthesisers)
    return say_by_synthesiser(base.synthesiser, base.voice, base.pitch_hz, bench.sentences)


def _intelligibility(bench: _Bench, said: dict[str, list[Spoken]]) -> list[Figure]:
    bases = [base for base in BASES if base.synthesiser in bench.recipe.corpus.synthesisers]
    others = {
        f"{base.synthesiser} {base.voice}": say_by_synthesiser(
            base.synthesiser, base.voice, base.pitch_hz, bench.sentences
        )
        for base in bases[:2] + bases[-1:]
    }
    figures = []
    for name, target, judge in (
        ("word error rate, bigram", "<= 1 % each voice", bench.closed),
        ("word error rate, open", "<= 13 % each voice", bench.open),
    ):
        ours = {voice: bench.errors(spoken, judge) for voice, spoken in said.items()}
        theirs = {
            source: bench.errors(spoken, judge) for source, spoken in others.items() if spoken
        }
        figures.append(Figure(name, target, _shares(ours), _shares(theirs)))
    short = [text for text in bench.texts.short if bench.closed.knows(text)]
    replies = bench.say_each(bench.model.voices()[0], short)
    figures.append(
        Figure("short replies, bigram", "<= 5 %", f"{bench.errors(replies, bench.closed):.1%}")
    )
    every = [spoken for voice in said.values() for spoken in voice]
    ended = mean(spoken.ended for spoken in every)
    figures.append(Figure("ends by itself", ">= 99 %", f"{ended:.1%}"))
    right = mean(
        abs(len(bench.closed.hear(s.pcm, s.sample_rate).split()) - len(words(s.text)))
        <= 0.3 * len(words(s.text)) + 1
        for s in every
    )
    figures.append(Figure("no loop, no skip (words heard within 30 %)", ">= 99 %", f"{right:.1%}"))
    return figures


def _rates(bench: _Bench, voice: Voice) -> list[Figure]:
    texts = bench.sentences[: bench.recipe.evaluate.rate_sentences]
    got = {
        rate: mean(spoken.rate for spoken in bench.say_each(voice, texts, (rate,)))
        for rate in bench.recipe.evaluate.rates
    }
    error = mean(abs(measured - rate) / rate for rate, measured in got.items())
    rising = list(got.values()) == sorted(got.values())
    listed = " ".join(f"{rate:g}->{measured:.1f}" for rate, measured in got.items())
    reached = f"{error:.0%}, {'monotonic' if rising else 'NOT monotonic'} ({listed})"
    return [Figure("speaking rate, mean error", "<= 10 %, monotonic", reached)]


def _steps(bench: _Bench, voice: Voice) -> list[Figure]:
    """A step of the slider in the middle: the rate from onsets, and are the words intact?"""
    text = " ".join(bench.sentences[: max(2, min(8, len(bench.sentences)))])
    figures = []
    for rates in (STEP, STEP[::-1]):
        spoken = say(bench.model, voice, text, rates)
        errors = bench.errors([spoken], bench.closed)
        seconds = _settling(spoken, rates)
        settled = f"{seconds:.1f} s" if seconds is not None else "never"
        name = f"step {rates[0]:g} -> {rates[1]:g} SPS"
        figures.append(
            Figure(name, "90 % within 2 s, words intact", f"{settled}, errors {errors:.0%}")
        )
    return figures


def _settling(spoken: Spoken, rates: Sequence[float]) -> float | None:
    """Seconds after the step at which 90 % of the way to the rate reached in the end are done."""
    counts = [float(len(word) > 0) for word in spoken.text.split()]
    onsets = spoken.onsets
    if len(onsets) != len(counts) or len(onsets) < 8:
        return None
    half = len(onsets) // 2
    speeds = [
        (onsets[place], 3 / max(FRAME_SECONDS, onsets[place] - onsets[place - 3]))
        for place in range(3, len(onsets))
    ]
    before = median(speed for at, speed in speeds if at <= onsets[half])
    after = median(speed for at, speed in speeds[-max(3, len(speeds) // 4) :])
    for at, speed in speeds:
        done = (speed - before) / (after - before) if after != before else 1.0
        if at > onsets[half] and done >= 0.9:
            return at - onsets[half]
    return None


def _extremes(bench: _Bench, voice: Voice) -> list[Figure]:
    figures = []
    for rate in STEP:
        said = bench.say_all(voice, (rate,))
        reached = f"{bench.errors(said, bench.closed):.1%} / {bench.errors(said, bench.open):.1%}"
        figures.append(
            Figure(f"errors at {rate:g} SPS, bigram / open", "<= 3 % / <= 20 %", reached)
        )
    return figures


def _long(bench: _Bench, voice: Voice) -> list[Figure]:
    """Continuous text: the errors of the first and of the last minute."""
    texts: list[str] = []
    seconds = bench.recipe.evaluate.long_seconds
    needed = seconds * PLAIN_RATE
    while sum(len(text.split()) for text in texts) * 1.5 < needed:
        texts += bench.sentences
    spoken = say(bench.model, voice, " ".join(texts), (PLAIN_RATE,))
    if not spoken.onsets:
        return [Figure("long text", "last minute <= first + 2 points", "no onsets")]
    heard = []
    said = spoken.text.split()
    for begin, end in ((0.0, 60.0), (max(0.0, spoken.onsets[-1] - 60.0), spoken.onsets[-1])):
        part = spoken.pcm[int(begin * spoken.sample_rate) : int(end * spoken.sample_rate) + 1]
        within = [w for w, at in zip(said, spoken.onsets, strict=False) if begin <= at < end]
        heard.append(
            word_error_rate(
                [" ".join(within) or "a"], [bench.closed.hear(part, spoken.sample_rate)]
            )
        )
    length = len(spoken.pcm) / spoken.sample_rate
    reached = f"first {heard[0]:.1%}, last {heard[1]:.1%} of {length:.0f} s"
    return [Figure("long text", "last minute <= first + 2 points", reached)]


def _onsets(said: Sequence[Spoken]) -> Figure:
    aligner, gaps = Aligner(), []
    for spoken in said:
        starts = aligner.word_starts(spoken.pcm, spoken.sample_rate, spoken.text)
        if starts and len(starts) == len(spoken.onsets):
            gaps += [abs(one - other) for one, other in zip(starts, spoken.onsets, strict=True)]
    reached = f"{1000 * median(gaps):.0f} ms of {len(gaps)} words" if gaps else UNMEASURED
    return Figure("word onsets against an aligner, median", "<= 80 ms", reached)


def _speed(said: Sequence[Spoken]) -> list[Figure]:
    factor = median(s.cpu_seconds / max(1e-9, len(s.pcm) / s.sample_rate) for s in said)
    first = median(spoken.first_ms for spoken in said[1:] or said)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        Figure("RTF, processor time on one thread", "<= 0.20", f"{factor:.2f}"),
        Figure("first packet, processor time", "<= 60 ms", f"{first:.0f} ms"),
        Figure(
            "resident memory of this process, judges included", "<= 300 MB", f"{megabytes:.0f} MB"
        ),
    ]


def _shares(by_name: dict[str, float]) -> str:
    if not by_name:
        return UNMEASURED
    listed = ", ".join(f"{name} {share:.1%}" for name, share in by_name.items())
    return f"median {median(by_name.values()):.1%}, worst {max(by_name.values()):.1%} ({listed})"


def _table(figures: Sequence[Figure]) -> str:
    lines = ["| figure | target | this voice | sources |", "|---|---|---|---|"]
    lines += [f"| {row.name} | {row.target} | {row.reached} | {row.sources} |" for row in figures]
    return "\n".join(lines) + "\n"
