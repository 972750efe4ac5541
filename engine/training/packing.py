"""What the packs of all systems are written with: a folder, networks, tables, named voices, a card.

Invariant: a pack that is too large to ship is refused.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
from safetensors.torch import save_file
from torch import Tensor

from engine.errors import ModelError
from engine.nn import stored_weights
from engine.training import checkpoints
from engine.training.card import write_card
from engine.training.corpus.speakers import cast
from engine.training.recipe import Recipe
from engine.training.run import Run, read_json
from engine.tts import voices as voice_files
from engine.tts.base import Voice
from engine.tts.pack_files import PHONES_FILE, config_json
from engine.tts.packs import CONFIG_FILE, VOICES_FOLDER, Weights
from engine.tts.phones import MARKS

LARGEST_BYTES: Final = 40_000_000  # of a pack; the repository takes no more
# Stages whose networks listen. Their batch norms stay in full precision, and all of them unless the
# pack is in int8: voices and tokens are to be those that the others learnt from.
LISTENING: Final = {"speaker", "semantic"}


class Heard(Protocol):
    """An utterance with the vector of its speaker."""

    @property
    def vector(self) -> npt.NDArray[np.float32]: ...


def pack_folder(run: Run) -> Path:
    """Where the pack of a run is written."""
    return run.stage("export") / "pack"


def fresh_folder(run: Run) -> Path:
    """The pack's folder with nothing but an empty one for its voices."""
    folder = pack_folder(run)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / VOICES_FOLDER).mkdir(parents=True)
    return folder


def install(run: Run, place: Path) -> None:
    """Copy the finished pack to where the program ships it."""
    run.require("export")
    fresh = place.with_name(place.name + ".partial")
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(pack_folder(run), fresh)
    shutil.rmtree(place, ignore_errors=True)
    fresh.rename(place)


def write_networks(run: Run, files: Mapping[str, str]) -> None:
    """Copy files of stages into the pack, stored as the recipe says: `files` names the file of each
    stage.
    """
    for stage, name in files.items():
        file = run.stage(stage) / name
        save_weights(
            stored_weights.load(file),
            pack_folder(run) / name,
            run.recipe.export.weights,
            checkpoints.metadata(file),
            listens=stage in LISTENING,
        )


def save_weights(
    tensors: Mapping[str, Tensor],
    file: Path,
    weights: Weights,
    about: dict[str, str] | None = None,
    *,
    listens: bool = False,
) -> None:
    """Write tensors, stored in `weights`; `about` = the file's metadata, if any."""
    exact = listens or weights is Weights.FLOAT32
    small = stored_weights.full if exact else stored_weights.halved
    is_int8 = weights is Weights.INT8
    save_file(stored_weights.in_int8(tensors, small) if is_int8 else small(tensors), file, about)


def write_tables(run: Run, config: Any, stage: str = "encode") -> None:
    """Write config.json, and phones.json with the phones that `stage` numbered."""
    folder, ids = pack_folder(run), read_json(run.stage(stage) / "phones.json")
    table = json.dumps({**ids, **MARKS}, ensure_ascii=False, indent=0)
    (folder / PHONES_FILE).write_text(table, encoding="utf-8")
    (folder / CONFIG_FILE).write_text(config_json(config), encoding="utf-8")


def save_vector_voices(run: Run, people: Mapping[int, Sequence[Heard]]) -> list[str]:
    """Write named voices that are only a speaker's vector, the mean over all utterances: of the
    speakers that the recipe names, or of very different ones. Their names.
    """
    vectors = mean_vectors(people)
    order = run.recipe.export.speakers or by_difference(run.recipe, vectors)
    called = run.recipe.export.voices
    for name, number in zip(called, order, strict=False):
        vector = vectors[number] / np.linalg.norm(vectors[number])
        tensors = {"speaker": vector.astype(np.float32)}
        about = {"speaker": str(number)}
        voice_files.save(
            Voice(name, run.recipe.export.name, tensors, about), pack_folder(run) / VOICES_FOLDER
        )
    return list(called[: len(order)])


def mean_vectors(people: Mapping[int, Sequence[Heard]]) -> dict[int, npt.NDArray[np.float32]]:
    """Of each speaker."""
    return {
        number: np.mean([each.vector for each in person], axis=0)
        for number, person in people.items()
    }


def by_difference(recipe: Recipe, vectors: Mapping[int, npt.NDArray[np.float32]]) -> list[int]:
    """The speakers in an order: a synthesiser's own voice first, then always the one whose vector
    is farthest from those before; own voices are preferred a little.
    """
    own = {person.number for person in cast(recipe) if person.warp == 1.0}
    order = sorted(own & set(vectors))[:1] or [min(vectors)]
    left = set(vectors) - set(order)
    while left:
        far = min(
            left,
            key=lambda n: max(float(vectors[n] @ vectors[o]) for o in order) - 0.1 * (n in own),
        )
        order.append(far)
        left.remove(far)
    return order


def finish(run: Run, inputs: dict[str, str], names: Sequence[str]) -> None:
    """Write the card of a complete pack. ModelError when it is too large to ship."""
    folder = pack_folder(run)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    if size > LARGEST_BYTES:
        raise ModelError(
            "The pack has {size} MB, more than {most}.",
            hint="Make the recipe's networks smaller, or set export.weights.",
            size=f"{size / 1e6:.1f}",
            most=f"{LARGEST_BYTES / 1e6:.0f}",
        )
    write_card(run, folder, {})
    run.finish("export", inputs, megabytes=round(size / 1e6, 2), voices=list(names))
