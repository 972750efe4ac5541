"""Voice packs of all systems: a folder with networks, tables, named voices, and a card.

The card says what a pack is, its sources, its figures and its limits. Invariants: a pack that is
too large to ship is refused; every number on the card comes from a manifest or from the recipe.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from safetensors.torch import save_file
from torch import Tensor

from engine.errors import ModelError
from engine.nn import weights_file
from engine.settings import systems
from engine.training.run import SYSTEMS, Run, metadata, read_json
from engine.training.teachers.synthesisers import LICENCES
from engine.training.utterances import Utterance, mean_vector, read_sides
from engine.tts import voices as voice_files
from engine.tts.base import Voice
from engine.tts.pack_files import PHONES_FILE, config_json
from engine.tts.packs import CONFIG_FILE, SPEAKER_FILE, VOICES_FOLDER, Weights
from engine.tts.phones import MARKS

Tensors = Mapping[str, Tensor]
Network = tuple[Mapping[str, Any], dict[str, str]]
"""Tensors of a network, or arrays of a voice, and their metadata."""
CARD_FILE: Final = "CARD.md"
LARGEST_BYTES: Final = 40_000_000  # of a pack; the repository takes no more
_CARD: Final = Path(__file__).with_name("card.md")


def pack_folder(run: Run) -> Path:
    """The folder of a run's pack."""
    return run.stage("export") / "pack"


def install(run: Run, place: Path) -> None:
    """Copy the finished pack to a folder, with the card of the current recipe."""
    run.require("export")
    fresh = place.with_name(place.name + ".partial")
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(pack_folder(run), fresh)
    write_card(run, fresh)
    shutil.rmtree(place, ignore_errors=True)
    fresh.rename(place)


def export_pack(
    run: Run,
    networks: Mapping[str, str | Network],
    config: Any,
    load: Callable[[Path], object],
    kind: type[Utterance] = Utterance,
    voice_of: Callable[[Sequence[Any]], Network] | None = None,
) -> None:
    """Write a system's pack: networks by file name (a stage's name = its network as it is),
    configuration, table of phones, named voices, and the card; `load` reads it back. `voice_of`
    returns the arrays and the metadata of a voice from its speaker's utterances, which are of this
    `kind`; None = the mean of their vectors alone. ModelError when the pack is too large to ship.
    """
    folder, export = pack_folder(run), run.recipe.export
    shutil.rmtree(folder, ignore_errors=True)
    (folder / VOICES_FOLDER).mkdir(parents=True)
    for name, source in networks.items():
        if isinstance(source, str):
            source = weights_file.load(run.weights(source)), metadata(run.weights(source))
        # The speaker encoder stays in fp32, so that voices are the same as those that the other
        # networks learnt from.
        weights = Weights.FLOAT32 if name == SPEAKER_FILE else export.weights
        save_weights(source[0], folder / name, weights, source[1])
    write_tables(run, config)
    people = read_sides(run, kind).training
    called = dict(zip(export.voices, export.speakers or sorted(people), strict=False))
    for name, number in called.items():
        person = people[number]
        arrays, about = voice_of(person) if voice_of else ({"speaker": mean_vector(person)}, {})
        voice = Voice(name, export.name, dict(arrays), {**about, "speaker": str(number)})
        voice_files.save(voice, folder / VOICES_FOLDER)
    load(folder)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    if size > LARGEST_BYTES:
        hint = "Make the recipe's networks smaller, or set export.weights."
        raise ModelError(f"The pack has {size / 1e6:.1f} MB, which is too large.", hint=hint)
    write_card(run, folder)


_STORED: Final = {
    Weights.FLOAT32: weights_file.full,
    Weights.FLOAT16: weights_file.halved,
    Weights.INT8: weights_file.in_int8,
}


def save_weights(
    tensors: Tensors, file: Path, weights: Weights, about: dict[str, str] | None = None
) -> None:
    """Write tensors in the number format `weights`, with the metadata `about`."""
    save_file(_STORED[weights](tensors), file, about)


def write_tables(run: Run, config: Any) -> None:
    """Write config.json, and phones.json with the phones of the encoded corpus."""
    folder, ids = pack_folder(run), read_json(run.stage("encode") / PHONES_FILE)
    table = json.dumps({**ids, **MARKS}, ensure_ascii=False, indent=0)
    (folder / PHONES_FILE).write_text(table, encoding="utf-8")
    (folder / CONFIG_FILE).write_text(config_json(config), encoding="utf-8")


def write_card(run: Run, folder: Path) -> None:
    """Write CARD.md."""
    recipe, system = run.recipe, SYSTEMS[run.recipe.system]
    paper = systems.find(recipe.system)
    only = f" --only {paper.title}" if paper else ""
    reached, limits = (
        "".join(f"- {sentence}\n" for sentence in some)
        for some in (recipe.export.reached, recipe.export.limits)
    )
    files = sorted(folder.rglob("*.safetensors"))
    text = _CARD.read_text(encoding="utf-8").format(
        name=recipe.export.name,
        card=system.card,
        hours=run.facts("corpus").get("hours", 0.0),
        base=f"\nIts {system.base} the built-in voice's.\n" if system.base else "",
        sources="\n".join(f"- {LICENCES[name]}" for name in recipe.corpus.synthesisers),
        prose=1 - recipe.corpus.grammar_share,
        sizes="\n".join(f"| {f.relative_to(folder)} | {f.stat().st_size:,} |" for f in files),
        measured=reached or f"Not measured yet: run `python -m engine.training compare{only}`.",
        limits=f"\n## What keeps it from its targets\n{limits}" if limits else "",
    )
    (folder / CARD_FILE).write_text(text.rstrip() + "\n", encoding="utf-8")
