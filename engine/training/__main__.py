"""`python -m engine.training STAGE RECIPE.toml`: runs one stage, or all that are not done.

Invariant: a finished stage is not run again; one that was stopped goes on from where it was.
"""

import argparse
import logging
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from engine.errors import Cancelled, EngineError, InvalidInput
from engine.settings_file import data_folder
from engine.training.recipe import QUICK, read_recipe
from engine.training.run import Run
from engine.training.stages import ASKED_FOR, SECTIONS, VOXTREAM
from engine.tts import packs

STAGES: Final = (
    "corpus", "codec", "speaker", "encode", "voice", "draw", "decoder", "export", "baselines",
    "evaluate",
)  # fmt: skip
_OTHERS: Final = tuple(
    name
    for stages in (*SECTIONS.values(), *ASKED_FOR.values())
    for name in stages
    if name not in STAGES
)
COMPARE: Final = "compare"  # all systems on this machine; it belongs to no run


def main(arguments: list[str] | None = None) -> int:
    """Run the stage asked for. 0 done, 1 failed, 130 stopped by the person."""
    parser = _parser()
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    only = tuple(name for name in options.only.split(",") if name)
    try:
        if options.stage == COMPARE:
            _compare(options, only)
        else:
            _run(options, only)
    except Cancelled as error:
        sys.stderr.write(f"{error}\n")
        return 130
    except EngineError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m engine.training", description=__doc__)
    parser.add_argument("stage", choices=(*STAGES, *_OTHERS, "all", COMPARE))
    parser.add_argument("recipe", type=Path, nargs="?", help="all but compare need one")
    parser.add_argument("--work", type=Path, help="folder of the run")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument(
        "--workers",
        type=int,
        default=os.cpu_count() or 1,
        help="processes of corpus, encode, draw, export, baselines and evaluate",
    )
    parser.add_argument("--dask", default="", help="address of a Dask scheduler for the corpus")
    parser.add_argument("--again", action="store_true", help="do a stage that is done once more")
    parser.add_argument(
        "--into",
        type=Path,
        help="copy the finished pack, or compare's page, there",
    )
    parser.add_argument(
        "--install", action="store_true", help="copy the finished pack to where the program looks"
    )
    parser.add_argument("--only", default="", help="evaluate, compare: parts that begin so, commas")
    parser.add_argument("--quick", action="store_true", help="evaluate, compare: a few sentences")
    parser.add_argument("--worker", default="", help=argparse.SUPPRESS)
    return parser


def _run(options: argparse.Namespace, only: tuple[str, ...]) -> None:
    """The stages of one recipe."""
    if options.recipe is None:
        raise InvalidInput("Which recipe?", hint="Those of ours: engine/training/recipes.")
    recipe = read_recipe(options.recipe)
    work = options.work or data_folder() / "training" / recipe.name
    if options.quick:
        asked_for = recipe.evaluate
        quick = replace(QUICK, whisper=asked_for.whisper, beside=asked_for.beside)
        recipe = replace(recipe, evaluate=quick)
    run = Run(recipe, work, options.device, options.workers, options.dask, only)
    if options.worker:
        _corpus_worker(run, options.worker)
        return
    own = _stages_of(recipe.system)
    every = (*own, *ASKED_FOR.get(recipe.system, ()))
    if options.stage not in {*every, "all"}:
        raise InvalidInput(
            "{system} has no stage '{stage}'.",
            hint="Its stages: {names}.",
            system=recipe.system,
            stage=options.stage,
            names=", ".join(every),
        )
    if options.install:
        own = own[: own.index("export") + 1]  # a pack is used before it is measured
    for stage in own if options.stage == "all" else (options.stage,):
        _stage(stage, run, options.recipe, again=options.again)
    if options.into or options.install:
        _install(run, options.into or packs.folder_of(recipe.name))


def _stages_of(system: str) -> tuple[str, ...]:
    """The stages of a system's recipes, in order. VoXtream is measured by `compare` alone."""
    if system == VOXTREAM:
        return tuple(name for name in STAGES if name not in {"draw", "baselines", "evaluate"})
    return tuple(SECTIONS.get(system, STAGES))


def _compare(options: argparse.Namespace, only: tuple[str, ...]) -> None:
    from engine.training.comparison.compare import compare  # imports torch

    compare(
        options.work or data_folder() / "training" / "comparison",
        only=only,
        workers=options.workers,
        quick=options.quick,
        again=options.again,
        into=options.into,
    )


def _corpus_worker(run: Run, worker: str) -> None:
    from engine.training.corpus import stage as corpus

    first, step = worker.split("/")
    corpus.work(run, int(first), int(step))


def _install(run: Run, place: Path) -> None:
    from engine.training import export

    export.install(run, place)


def _stage(name: str, run: Run, recipe_file: Path, *, again: bool) -> None:
    """Import a stage only when it runs: the corpus needs no torch, and codec no pocketsphinx."""
    if run.is_done(name) and not again:
        sys.stderr.write(f"{name} is done\n")
        return
    if name == "corpus":
        from engine.training.corpus import stage as corpus

        corpus.make(run, recipe_file)
        return
    if run.recipe.system in SECTIONS:
        _own_stages(run.recipe.system)[name](run)
        return
    from engine.training import export
    from engine.training.codec import decoder, draw
    from engine.training.codec import stage as codec
    from engine.training.judge import evaluate
    from engine.training.voice import encode, fine_tuning, speaker
    from engine.training.voice import stage as voice

    if run.recipe.begin_with:
        fine_tuning.fitting(run.recipe)  # before hours are spent
    if fine_tuning.is_taken(run.recipe, name):
        fine_tuning.take(run, name)
        return
    if name == "draw" and not run.recipe.decoder.drawn:
        sys.stderr.write("draw is not asked for: decoder.drawn is 0\n")
        return
    stages = {
        "codec": codec.train_codec,
        "decoder": decoder.train_decoder,
        "speaker": speaker.train_speaker,
        "encode": encode.encode_corpus,
        "voice": voice.train_voice,
        "draw": draw.draw_corpus,
        "export": export.export_pack,
        "baselines": evaluate.measure_baselines,
        "evaluate": evaluate.evaluate_pack,
    }
    stages[name](run)


def _own_stages(system: str) -> Mapping[str, Callable[[Run], None]]:
    """What does each stage of a system with a folder of its own."""
    if system == "llmvox":
        from engine.training.llmvox.stages import STAGES as LLMVOX

        return LLMVOX
    if system == "smlle":
        from engine.training.smlle.stages import STAGES as SMLLE

        return SMLLE
    from engine.training.speakstream.stages import STAGES as SPEAKSTREAM

    return SPEAKSTREAM


if __name__ == "__main__":
    outcome = main()
    if "WORLD_SIZE" in os.environ:
        from engine.training.ranks import leave  # imports torch, which the corpus does without

        leave(outcome)
    sys.exit(outcome)
