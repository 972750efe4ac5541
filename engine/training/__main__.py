"""`python -m engine.training STAGE RECIPE.toml`: runs one stage, or all that are not done.

Invariant: a finished stage is not run again; a stopped one continues where it was.
"""

import argparse
import logging
import os
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Final

import torch
from safetensors.torch import save_file

from engine.errors import EngineError, InvalidInput
from engine.nn.weights_file import shape_metadata
from engine.settings_file import data_folder
from engine.training import packing
from engine.training.compare.compare import compare
from engine.training.loop import Learner, train
from engine.training.run import SYSTEMS, Run, read_recipe
from engine.tts import packs

COMPARE: Final = "compare"  # all systems on this machine; it belongs to no run
_STAGES: Final = tuple(dict.fromkeys(name for each in SYSTEMS.values() for name in each.stages))


def main(arguments: list[str] | None = None) -> int:
    """Run the requested stage. Return 0 done, 1 failed, 130 stopped by the person."""
    parser = argparse.ArgumentParser(prog="python -m engine.training", description=__doc__)
    add = parser.add_argument
    add("stage", choices=(*_STAGES, "all", COMPARE))
    add("recipe", type=Path, nargs="?", help="all but compare need one")
    add("--work", type=Path, help="folder of the run")
    add("--device", default="cpu", help="cpu or cuda")
    workers = "processes of corpus, encode and compare"
    add("--workers", type=int, default=os.cpu_count() or 1, help=workers)
    add("--again", action="store_true", help="delete the output of a stage and start it anew")
    add("--into", type=Path, help="copy the finished pack, or compare's page, there")
    installed = "copy the finished pack to where the program looks"
    add("--install", action="store_true", help=installed)
    add("--only", default="", help="compare: parts whose names begin so, commas between")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        if options.stage == COMPARE:
            folder = options.work or data_folder() / "training" / "comparison"
            only = tuple(filter(None, options.only.split(",")))
            compare(folder, only, options.workers, again=options.again, into=options.into)
        else:
            _run_recipe(options)
    except KeyboardInterrupt:
        sys.stderr.write("The training was stopped. The same command continues.\n")
        return 130
    except EngineError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _run_recipe(options: argparse.Namespace) -> None:
    """Run the requested stage of a recipe, or all of its unfinished stages."""
    if options.recipe is None:
        raise InvalidInput("A recipe is missing.", hint="See engine/training/recipes.")
    recipe = read_recipe(options.recipe)
    work = options.work or data_folder() / "training" / recipe.name
    run = Run(recipe, work, options.device, options.workers)
    if options.stage not in {*run.stages, "all"}:
        hint = f"Its stages: {', '.join(run.stages)}."
        raise InvalidInput(f"{recipe.system} has no stage '{options.stage}'.", hint=hint)
    for stage in run.stages if options.stage == "all" else (options.stage,):
        if options.again:
            shutil.rmtree(run.stage(stage))
        if run.is_done(stage):
            sys.stderr.write(f"{stage} is done\n")
        else:
            do_stage(stage, run)
    if options.into or options.install:
        packing.install(run, options.into or packs.folder_of(recipe.name))


def do_stage(name: str, run: Run) -> None:
    """Run a stage and mark it as done."""
    stage = run.stages[name]
    run.require(*stage.reads)
    module, function = stage.function.split(":")
    torch.manual_seed(run.recipe.seed)
    made = getattr(import_module(f"engine.training.{module}"), function)(run)
    if isinstance(made, Learner):
        weights = made.select(train(run, name, made, run.key(name)))
        save_file(weights, run.weights(name), shape_metadata(made.shape) if made.shape else None)
        made = None
    run.finish(name, **(made or {}))


if __name__ == "__main__":
    sys.exit(main())
