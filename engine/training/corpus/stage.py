"""The stage `corpus`: draw texts and let synthesisers speak them, one task for each shard.

Invariant: a shard is a pure function of the recipe and its number: any process may make it, any
number of times, on any machine with the same synthesisers.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from engine.text.phonemes import Espeak
from engine.training.corpus import prose
from engine.training.corpus.shards import delete_others, index_file, read_shards, write_shard
from engine.training.corpus.utterance import Plan, Utterance, draw_plan, finish, seconds
from engine.training.recipe import Recipe
from engine.training.run import Run, fingerprint, read_json, write_json
from engine.training.tasks import Place, Result, Task, do_tasks
from engine.training.teachers import synthesisers, whole_sentences
from engine.training.teachers.synthesisers import Take
from engine.tts.kokoro.voices import NAME as KOKORO

TEXTS_FILE: Final = "texts.json"  # prose, and the fingerprint of its recipe


def make_corpus(run: Run) -> dict[str, float]:
    """Make all missing shards in `run.workers` processes, and delete the shards of other recipes.
    Return the hours of speech.
    """
    recipe, folder = run.recipe, run.stage("corpus")
    _prepare(recipe)
    key, file = shard_key(recipe), folder / TEXTS_FILE
    if not file.is_file() or read_json(file).get("key") != key:
        is_mixed = recipe.corpus.grammar_share < 1
        write_json(file, {"key": key, "prose": prose.sentences() if is_mixed else ()})
    delete_others(folder, key, shard_numbers(recipe))
    tasks = [
        Task(f"shard/{number:04d}", _make_shard, (Place(folder), recipe, number))
        for number in shard_numbers(recipe)
        if not index_file(folder, number).is_file()
    ]
    for task in tasks:
        task.file(folder).unlink(missing_ok=True)
    do_tasks("corpus", folder, tasks, run.workers, fresh=True)
    hours = sum(shard.seconds for shard in read_shards(folder)) / 3600
    return {"hours": round(hours, 3)}


def _prepare(recipe: Recipe) -> None:
    """Check that the synthesisers are installed, and fetch Kokoro if the recipe uses it."""
    if KOKORO in recipe.corpus.synthesisers:
        whole_sentences.model()
    for name in recipe.corpus.synthesisers:
        synthesisers.speak_all(name, ())


def shard_key(recipe: Recipe) -> str:
    """Return the fingerprint of all settings that decide the texts and the shards, except their
    count.
    """
    return fingerprint(recipe.seed, replace(recipe.corpus, hours=0.0))


def shard_numbers(recipe: Recipe) -> range:
    """Return the numbers of the shards that make up the recipe's hours."""
    return range(max(1, round(recipe.corpus.hours * 3600 / recipe.corpus.shard_seconds)))


def _make_shard(folder: str, recipe: Recipe, number: int) -> Result:
    """Task: write one shard."""
    texts = tuple(read_json(Path(folder) / TEXTS_FILE)["prose"])
    plans = shard_plans(recipe, texts, number)
    utterances = list(speak_plans(plans, Espeak()))
    write_shard(Path(folder), number, utterances, shard_key(recipe))
    return {"utterances": len(utterances)}


def shard_plans(recipe: Recipe, texts: Sequence[str], number: int) -> list[Plan]:
    """Draw the plans (text, speaker, rates) of a shard's utterances."""
    draw = random.Random(f"{recipe.seed} shard {number}")
    plans: list[Plan] = []
    while sum(map(seconds, plans)) < recipe.corpus.shard_seconds:
        plans.append(draw_plan(recipe, texts, draw))
    return plans


def speak_plans(plans: Sequence[Plan], espeak: Espeak) -> Iterator[Utterance]:
    """Speak plans, with one call of each synthesiser. Yield the utterances in order, without those
    that could not be spoken.
    """
    takes: dict[int, Take | None] = {}
    for name in sorted({plan.speaker.base.synthesiser for plan in plans}):
        numbers = [n for n, plan in enumerate(plans) if plan.speaker.base.synthesiser == name]
        requests = [plans[number].request() for number in numbers]
        takes |= zip(numbers, synthesisers.speak_all(name, requests), strict=True)
    for number, plan in enumerate(plans):
        take = takes[number]
        utterance = finish(plan, take, espeak) if take else None
        if utterance is not None:
            yield utterance
