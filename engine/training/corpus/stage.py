"""The stage `corpus`: texts drawn, spoken in shards by parallel processes, counted.

Invariant: a shard is a pure function of the recipe and its number: any process may make it, any
number of times, on any machine with the same synthesisers.
"""

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from engine.errors import Cancelled, InvalidInput, SynthesisError
from engine.text.phonemes import Espeak
from engine.training.corpus import prose, recordings
from engine.training.corpus.shards import Shard, index_file, read_shards, write_shard
from engine.training.corpus.texts import Texts, make_texts, read_texts, write_texts
from engine.training.corpus.utterance import Plan, Utterance, draw_plan, finish, seconds
from engine.training.recipe import Recipe
from engine.training.run import Progress, Run, cancellable, write_json
from engine.training.teachers import synthesisers, whole_sentences
from engine.training.teachers.synthesisers import EXACT, Request, Take
from engine.tts.kokoro.voices import NAME as KOKORO

LOOK_SECONDS: Final = 0.5  # between two checks of the worker processes


def make(run: Run) -> None:
    """Make all shards that are not there yet, in `run.workers` processes, and the report."""
    _prepare(run.recipe)
    folder = run.stage("corpus")
    if not (folder / "texts.json").is_file():
        prosaic = run.recipe.corpus.grammar_share < 1
        write_texts(run, make_texts(run.recipe, prose.sentences() if prosaic else ()))
    with cancellable() as check:
        if run.dask:
            _over_dask(run, check)
        else:
            _in_processes(run, check)
    recordings.add(run)
    shards = read_shards(folder)
    report = coverage(shards)
    write_json(folder / "coverage.json", report)
    hours = sum(shard.seconds for shard in shards) / 3600
    run.finish("corpus", {}, hours=round(hours, 3), **report)


def _prepare(recipe: Recipe) -> None:
    """Check that the synthesisers are installed, fetched and ready."""
    if KOKORO in recipe.corpus.synthesisers:
        whole_sentences.model()
    lacking = synthesisers.missing(recipe.corpus.synthesisers)
    if lacking:
        raise InvalidInput(
            "This machine lacks {names}.",
            hint="On Debian: apt install flite festival festvox-us-slt-hts",
            names=", ".join(lacking),
        )


def shard_numbers(recipe: Recipe) -> range:
    """The shards that fill the hours asked for."""
    corpus = recipe.corpus
    count = max(1, round(corpus.hours * 3600 / corpus.shard_seconds))
    return range(corpus.first_shard, corpus.first_shard + count)


def work(run: Run, first: int, step: int) -> None:
    """Make every `step`th shard, starting with `first`: the work of one process."""
    texts = read_texts(run)
    folder = run.stage("corpus")
    espeak = Espeak()
    with cancellable() as check:
        for number in shard_numbers(run.recipe)[first::step]:
            if not index_file(folder, number).is_file():
                utterances = []
                for utterance in spoken(shard_plans(run.recipe, texts, number), espeak, check):
                    check()
                    utterances.append(utterance)
                write_shard(folder, number, utterances)


def shard_plans(recipe: Recipe, texts: Texts, number: int) -> list[Plan]:
    """What is said in one shard."""
    draw = random.Random(f"{recipe.seed} shard {number}")
    plans: list[Plan] = []
    while sum(map(seconds, plans)) < recipe.corpus.shard_seconds:
        plans.append(draw_plan(recipe, texts, draw))
    return plans


def spoken(
    plans: list[Plan], espeak: Espeak, check: Callable[[], None] = lambda: None
) -> Iterator[Utterance]:
    """Utterances from plans, without those that cannot be spoken. `check` may raise to stop it."""
    takes = _takes(plans, check)
    utterances = (finish(plan, takes[n], espeak) for n, plan in enumerate(plans) if n in takes)
    return (utterance for utterance in utterances if utterance is not None)


def coverage(shards: tuple[Shard, ...]) -> dict[str, object]:
    """Phones, pairs of phones and rates: what the corpus holds and how often."""
    phones: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    rates: Counter[int] = Counter()
    for entry in (entry for shard in shards for entry in shard.entries):
        phones.update(entry.phones)
        pairs.update(zip(entry.phones, entry.phones[1:], strict=False))
        rates[round(entry.rate)] += 1
    once = sum(count == 1 for count in pairs.values())
    return {
        "phones": dict(phones.most_common()),
        "pairs": {"distinct": len(pairs), "heard_once": once},
        "rates": {str(rate): rates[rate] for rate in sorted(rates)},
    }


def _takes(plans: list[Plan], check: Callable[[], None]) -> dict[int, tuple[Take, ...]]:
    """Takes of every plan that could be spoken, by the plan's number; one call for each
    synthesiser, or for each request where one takes seconds.
    """
    takes: dict[int, tuple[Take, ...]] = {}
    for name in sorted({plan.speaker.base.synthesiser for plan in plans}):
        requests: list[tuple[int, Request]] = [
            (number, request)
            for number, plan in enumerate(plans)
            if plan.speaker.base.synthesiser == name
            for request in plan.requests()
        ]
        size = 1 if name in EXACT else len(requests)
        answers: list[Take | None] = []
        for first in range(0, len(requests), size):
            check()
            some = [request for _, request in requests[first : first + size]]
            answers += synthesisers.speak_all(name, some)
        failures = {
            number for (number, _), take in zip(requests, answers, strict=True) if take is None
        }
        for (number, _), take in zip(requests, answers, strict=True):
            if take is not None and number not in failures:
                takes[number] = (*takes.get(number, ()), take)
    return takes


def _in_processes(run: Run, check: Callable[[], None]) -> None:
    """One interpreter for each worker, each on one thread: with two OpenMP threads each, busy
    processes were five to ten times slower.
    """
    total = len(shard_numbers(run.recipe))
    workers = max(1, min(run.workers, total))
    command = [sys.executable, "-m", "engine.training", "corpus", str(run.file)]
    command += ["--work", str(run.folder)]
    processes = [
        subprocess.Popen([*command, "--worker", f"{number}/{workers}"]) for number in range(workers)
    ]
    progress = Progress("corpus", total)
    try:
        while any(process.poll() is None for process in processes):
            check()
            progress.report(len(read_index(run)), "shards")
            time.sleep(LOOK_SECONDS)
    except Cancelled:
        for process in processes:
            process.terminate()
        raise
    finally:
        codes = [process.wait() for process in processes]
    if any(codes):
        raise SynthesisError(
            "A worker of the corpus ended with status {status}.", status=max(codes)
        )


def _over_dask(run: Run, check: Callable[[], None]) -> None:
    """Shards on a Dask cluster that shares the run's folder."""
    from distributed import Client, as_completed  # needed only with a scheduler's address

    total = len(shard_numbers(run.recipe))
    progress = Progress("corpus", total)
    with Client(run.dask) as client:
        futures = [client.submit(work, run, number, total) for number in range(total)]
        for count, future in enumerate(as_completed(futures), start=1):
            check()
            future.result()
            progress.report(count, "shards")


def read_index(run: Run) -> list[Path]:
    """The indices of the shards that are finished."""
    return sorted(run.stage("corpus").glob("[0-9]*.json"))
