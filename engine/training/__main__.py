"""`python -m engine.training STAGE RECIPE.toml`: runs one stage, or all that are not done.

Invariant: a finished stage is not run again; one that was stopped goes on from where it was.
"""

import argparse
import logging
import os
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Final

from engine.errors import Cancelled, EngineError, InvalidInput
from engine.settings_file import data_folder
from engine.training.recipe import QUICK, read_recipe
from engine.training.run import Run
from engine.training.stages import SYSTEMS
from engine.tts import packs

COMPARE: Final = "compare"  # all systems on this machine; it belongs to no run
_STAGES: Final = tuple(dict.fromkeys(name for each in SYSTEMS.values() for name in each.stages))


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
    parser.add_argument("stage", choices=(*_STAGES, "all", COMPARE))
    parser.add_argument("recipe", type=Path, nargs="?", help="all but compare need one")
    parser.add_argument("--work", type=Path, help="folder of the run")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument(
        "--workers",
        type=int,
        default=os.cpu_count() or 1,
        help="processes of corpus, encode, draw, export and evaluate",
    )
    parser.add_argument(
        "--again", action="store_true", help="delete what a stage made and begin anew"
    )
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
    return parser


def _run(options: argparse.Namespace, only: tuple[str, ...]) -> None:
    """The stages of one recipe."""
    if options.recipe is None:
        raise InvalidInput("Which recipe?", hint="Those of ours: engine/training/recipes.")
    recipe = read_recipe(options.recipe)
    work = options.work or data_folder() / "training" / recipe.name
    if options.quick:
        recipe = replace(recipe, evaluate=replace(QUICK, whisper=recipe.evaluate.whisper))
    run = Run(recipe, work, options.device, options.workers, only)
    own = tuple(SYSTEMS[recipe.system].stages)
    if options.stage not in {*own, "all"}:
        raise InvalidInput(
            "{system} has no stage '{stage}'.",
            hint="Its stages: {names}.",
            system=recipe.system,
            stage=options.stage,
            names=", ".join(own),
        )
    if options.install:
        own = own[: own.index("export") + 1]  # a pack is used before it is measured
    for stage in own if options.stage == "all" else (options.stage,):
        _stage(stage, run, again=options.again)
    if options.into or options.install:
        from engine.training import packing  # imports torch

        packing.install(run, options.into or packs.folder_of(recipe.name))


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


def _stage(name: str, run: Run, *, again: bool) -> None:
    """Import a stage only when it runs: the corpus needs no torch, and codec no pocketsphinx."""
    if run.is_done(name) and not again:
        sys.stderr.write(f"{name} is done\n")
        return
    if again:
        run.discard(name)
    stage = SYSTEMS[run.recipe.system].stages[name]
    if stage.can_be_taken and run.recipe.begin_with:
        from engine.training.voice import fine_tuning

        if fine_tuning.has_taken(run, name):
            return
    module, function = stage.does.split(":")
    getattr(import_module(f"engine.training.{module}"), function)(run)


if __name__ == "__main__":
    sys.exit(main())
