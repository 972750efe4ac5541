"""A run of a recipe: a folder with the output of each stage, and whether it is done; and long work
as tasks in several processes.

A task's result may be saved in a file, so that nothing is measured twice. The file is named after
the task and a hash of everything that the result depends on; a changed input gives another file.
Invariants: a stage is done only when its manifest says so, and the manifest is written last. Files
are complete or absent, and a task whose file exists is not run again.
"""

import hashlib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import active_children, get_context
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import torch
from safetensors import safe_open

from engine.atomic_write import replace_file
from engine.errors import InvalidInput, ModelError
from engine.nn.weights_file import check_numbers
from engine.resources import resource
from engine.settings import systems
from engine.training import llmvox, smlle, speakstream, voxtream
from engine.training.recipe import Stage, System
from engine.tts import packs
from engine.typed_values import WrongValue, build, read_text, toml_table

SYSTEMS: Final[Mapping[str, System]] = {
    **voxtream.SYSTEMS,
    "speakstream": speakstream.SYSTEM,
    "llmvox": llmvox.SYSTEM,
    "smlle": smlle.SYSTEM,
}
LARGEST_BYTES: Final = 256 * 1024  # a recipe is a few kilobytes
SAFE_PATH: Final = "PYTHONSAFEPATH"  # a child imports nothing from the current folder
Result = dict[str, Any]  # Any: what JSON can hold


def read_recipe(file: Path) -> Any:  # Any: the recipe of its system, which the stages know
    """Read a recipe from its file. InvalidInput names the key that is unknown, missing or wrong."""
    try:
        table = toml_table(read_text(file, LARGEST_BYTES))
        name = str(table.get("system", voxtream.VOXTREAM2))
        if name not in SYSTEMS:
            raise WrongValue(f"its system '{name}' is not known", f"Known: {', '.join(SYSTEMS)}.")
        recipe = build(SYSTEMS[name].recipe, table)
        check_numbers(recipe)
    except (OSError, ValueError) as error:
        hint = getattr(error, "hint", "")
        raise InvalidInput(f"The recipe {file} cannot be used: {error}.", hint=hint) from error
    return recipe


@dataclass(frozen=True)
class Run:
    """A recipe and the folder its stages work in."""

    recipe: Any  # the recipe of its system
    folder: Path
    device: str = "cpu"
    workers: int = 1

    @property
    def stages(self) -> Mapping[str, Stage]:
        """The stages of the recipe's system, in order."""
        return SYSTEMS[self.recipe.system].stages

    def stage(self, name: str) -> Path:
        """The folder of a stage; created if it does not exist."""
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def weights(self, name: str) -> Path:
        """Return the file with the weights of the network `name`. If the system trains it, that is
        the stage's output. Otherwise it is SpeakStream's vocoder, which all systems share so that
        only their networks differ, or a part of the built-in voice. ModelError if SpeakStream has
        no pack here.
        """
        if name in self.stages:
            return self.folder / name / f"{name}.safetensors"
        if name == "vocoder":
            (speakstream_,) = (each for each in systems.SYSTEMS if each.name == "speakstream")
            return packs.pack_folder(speakstream_) / "vocoder.safetensors"
        return resource("starter", f"{name}.safetensors")

    def finish(self, name: str, **facts: Any) -> None:
        """Mark a stage as done, with hashes of its files: later stages depend on these."""
        folder, manifest = self.stage(name), self._manifest(name)
        files = sorted(file for file in folder.rglob("*") if file.is_file() and file != manifest)
        hashes = {str(file.relative_to(folder)): file_hash(file) for file in files}
        write_json(manifest, {"key": self.key(name), "files": hashes, **facts})

    def is_done(self, name: str) -> bool:
        """Return True if a stage was finished with this recipe and these inputs, files included."""
        file, read = self._manifest(name), self.stages[name].reads
        return (
            file.is_file()
            and all((file.parent / each).is_file() for each in read_json(file)["files"])
            and all(self.is_done(each) for each in read if each in self.stages)
            and read_json(file)["key"] == self.key(name)
        )

    def require(self, *names: str) -> None:
        """InvalidInput for a stage of this system that has not been finished."""
        for name in names:
            if name in self.stages and not self.is_done(name):
                raise InvalidInput(
                    f"The stage '{name}' has not been finished with this recipe.",
                    hint=f"Run it first: python -m engine.training {name} RECIPE.toml",
                )

    def key(self, name: str) -> str:
        """Return the fingerprint of all that a stage depends on, in the recipe and in files."""
        stage = self.stages[name]
        values = [attrgetter(each)(self.recipe) for each in stage.sections]
        inputs = [
            file_hash(self._manifest(each) if each in self.stages else self.weights(each))
            for each in stage.reads
        ]
        return fingerprint(self.recipe.system, self.recipe.seed, values, inputs)

    def facts(self, name: str) -> Result:
        """Return the facts that a finished stage reported, and its hashes."""
        return read_json(self._manifest(name))

    def _manifest(self, name: str) -> Path:
        return self.folder / name / "manifest.json"


def write_json(file: Path, content: Any) -> None:
    """Write a JSON file. It is complete or absent."""
    replace_file(file, json.dumps(content, indent=1, ensure_ascii=False))


def read_json(file: Path) -> dict[str, Any]:
    """Read a JSON object that this package wrote. InvalidInput when it is damaged."""
    try:
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        message = f"{file} cannot be read: {error}."
        raise InvalidInput(message, hint="Delete it and run again.") from error
    return content


def metadata(file: Path) -> dict[str, str]:
    """Return the metadata of a safetensors file that this package wrote."""
    with safe_open(str(file), framework="np") as handle:  # type: ignore[no-untyped-call]
        return dict(handle.metadata() or {})


def fingerprint(*parts: object) -> str:
    """Hash values by their repr. Work with another fingerprint is no longer valid."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def file_hash(file: Path) -> str:
    """Return the sha256 of a file."""
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


@dataclass(frozen=True)
class Task:
    """Work to do: `do(*arguments)`, picklable. `depends`: the hashes of the files that it reads."""

    name: str  # of letters that a file name may have
    do: Callable[..., Result | None]
    arguments: tuple[Any, ...]
    depends: tuple[str, ...] = ()

    def file(self, folder: Path) -> Path:
        """Return the file of the task's result."""
        key = fingerprint(self.do.__qualname__, self.arguments, self.depends)
        return folder / f"{self.name.replace('/', ' ')} {key[:8]}.json"


Save = Callable[[Task, Result | None], None]


def do_tasks(stage: str, folder: Path, tasks: Sequence[Task], workers: int) -> None:
    """Run the tasks that have no result in the folder, and save each result there."""
    left = [task for task in tasks if not task.file(folder).is_file()]
    run_tasks(stage, left, workers, lambda task, found: write_json(task.file(folder), found))


def result(task: Task, folder: Path) -> Result | None:
    """The result of a task; None when it has not been run."""
    file = task.file(folder)
    return read_json(file) if file.is_file() else None


def run_tasks(
    stage: str, tasks: Sequence[Task], workers: int, save: Save = lambda task, found: None
) -> None:
    """Run tasks in `workers` processes (1 = in this one); `save` each result when it is ready."""
    many = min(workers, len(tasks))
    one_by_one = ((task, task.do(*task.arguments)) for task in tasks)
    ready = _in_processes(tasks, many) if many and workers > 1 else one_by_one
    for count, (task, found) in enumerate(ready, start=1):
        save(task, found)
        sys.stderr.write(f"{stage} {count / len(tasks):6.1%} {task.name}\n")


def _in_processes(tasks: Sequence[Task], workers: int) -> Iterator[tuple[Task, Result | None]]:
    """Run tasks in processes, which have ended afterwards, whatever happened."""
    others = set(active_children())
    os.environ[SAFE_PATH] = "1"
    executor = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_prepare_worker)
    try:
        waiting = {executor.submit(task.do, *task.arguments): task for task in tasks}
        for future in as_completed(waiting):
            yield waiting[future], future.result()
    except BrokenProcessPool as error:
        hint = "Was there too little memory? --workers 1 needs least, and goes on."
        raise ModelError("A process ended unexpectedly.", hint=hint) from error
    except BaseException:  # do not wait: a task may take minutes
        executor.shutdown(wait=False, cancel_futures=True)
        for process in set(active_children()) - others:
            process.terminate()
        raise
    finally:
        executor.shutdown()
        os.environ.pop(SAFE_PATH, None)


def _prepare_worker() -> None:
    """Use one thread, and leave Ctrl-C, which reaches all processes, to the first one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
