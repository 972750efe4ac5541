"""What the packs of all systems are written with: a folder, networks, tables, named voices, a card.

The card says what a pack is, what it was made from, what it reaches and what it cannot do.
Invariants: a pack that is too large to ship is refused; every number of the card comes from a
manifest, from `evaluate` or from the limits stated in the recipe.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
from safetensors.torch import save_file
from torch import Tensor

from engine import systems
from engine.errors import ModelError
from engine.nn import stored_weights
from engine.training import checkpoints
from engine.training.corpus.speakers import cast
from engine.training.recipe import Network, Recipe
from engine.training.run import CARD_FILE, Run, read_json
from engine.training.stages import SYSTEMS, VOXTREAM, VOXTREAM2
from engine.training.teachers.synthesisers import LICENCES
from engine.tts import voices as voice_files
from engine.tts.base import Voice
from engine.tts.pack_files import PHONES_FILE, config_json
from engine.tts.packs import CONFIG_FILE, SPEAKER_FILE, VOICES_FOLDER, Weights
from engine.tts.phones import MARKS

LARGEST_BYTES: Final = 40_000_000  # of a pack; the repository takes no more
# Stages whose networks listen. Their batch norms stay in full precision, and all of them unless the
# pack is in int8: voices are to be those that the others learnt from.
LISTENING: Final = {"speaker"}
FIGURES_FILE: Final = "figures.md"  # in the folder of `evaluate`
_READING: Final = """\
Each cell holds the median over the voices, then the worst of them. *Words wrong* is the share of
words that Whisper got wrong. SPS are syllables per second. *Likeness* is 1 for the same speaker,
by an encoder that took no part in the training.
"""
_LIMITS: Final = """\
- English only. It learnt from synthesised speech, so it sounds like a synthesiser and not like a
  person. No recording of a person took part.
- The pronunciations are espeak-ng's: names and foreign words may be wrong.
"""
_CLONES: Final = """\
- From a recording it takes only the pitch and the colour of the voice. The likeness above was
  measured on virtual speakers; a real person's clone is less like that person.
"""
_ALONE: Final = """\
- It speaks only with its own voices, because a prompt needs its text. Its rate cannot be changed.
"""
_ENCODER: Final = """
Its speaker encoder is an earlier pack's.
"""
_BEGUN: Final = """
It began with an earlier pack and keeps that pack's {kept}.
The hours above count the speech used to train its {learnt} further. The test sentences and test
speakers were left out of that speech. What the earlier pack learnt from is not recorded, so it
may have met some of the prose it is tested with.
"""


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
    """Copy the finished pack to where the program ships it, with the card of the current recipe."""
    run.require("export")
    write_card(run, pack_folder(run), evaluated_figures(run))
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


def own_speaker(run: Run) -> dict[str, str]:
    """The file of the stage `speaker`; none where it is the built-in voice's, which every pack of a
    paper finds beside it.
    """
    built_in = Path(run.recipe.begin_with) == Path("resources/starter")
    return {} if built_in else {"speaker": SPEAKER_FILE}


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


def export_pack(
    run: Run,
    files: Mapping[str, str],
    config: Any,
    people: Mapping[int, Sequence[Heard]],
    load: Callable[[Path], object],
    *,
    phones: str = "encode",
) -> None:
    """Write the pack of a system whose named voices are only a speaker's vector, the mean over all
    utterances; `load` reads it back. See write_networks() and write_tables(); `phones`: the stage
    that numbered them.
    """
    inputs, folder = run.require("corpus", "encode", *files), fresh_folder(run)
    write_networks(run, files)
    write_tables(run, config, phones)
    vectors = mean_vectors(people)
    called = dict(zip(run.recipe.export.voices, speakers(run, people), strict=False))
    for name, number in called.items():
        save_voice(run, name, number, {"speaker": vectors[number]})
    load(folder)
    finish(run, inputs, list(called))


def save_voice(run: Run, name: str, number: int, tensors: dict[str, npt.NDArray[Any]]) -> None:
    """Write a named voice of this speaker."""
    voice = Voice(name, run.recipe.export.name, tensors, {"speaker": str(number)})
    voice_files.save(voice, pack_folder(run) / VOICES_FOLDER)


def speakers(run: Run, people: Mapping[int, Sequence[Heard]]) -> list[int]:
    """Those that become named voices: whom the recipe names, or all, different ones first: a
    synthesiser's own voice, then always the one whose vector is farthest from those before; own
    voices are preferred a little.
    """
    if chosen := run.recipe.export.speakers:
        return [number for number in chosen if number in people]
    vectors = mean_vectors(people)
    own = {person.number for person in cast(run.recipe) if person.warp == 1.0}
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


def mean_vectors(people: Mapping[int, Sequence[Heard]]) -> dict[int, npt.NDArray[np.float32]]:
    """Of every speaker, of length 1, over all utterances."""
    means = {n: np.mean([each.vector for each in person], axis=0) for n, person in people.items()}
    return {n: (mean / np.linalg.norm(mean)).astype(np.float32) for n, mean in means.items()}


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
    write_card(run, folder)
    run.finish("export", inputs, megabytes=round(size / 1e6, 2), voices=list(names))


# ------------------------------------------------------------------------ card


def begun_with(recipe: Recipe) -> str:
    """Which parts of the pack come from the one the run began with."""
    if not recipe.begin_with:
        return ""
    if recipe.system not in {VOXTREAM2, VOXTREAM}:
        return _ENCODER
    parts: dict[str, Network] = {"voice": recipe.voice, "decoder": recipe.decoder}
    learnt = [name for name, part in parts.items() if part.schedule.steps]
    *first, last = ("codes", "speaker encoder", *(name for name in parts if name not in learnt))
    kept = f"{', '.join(first)} and {last}"
    return _BEGUN.format(kept=kept, learnt=" and ".join(learnt) or "parts")


def evaluated_figures(run: Run) -> str:
    """Return what `evaluate` printed of this pack; "" where it was not measured."""
    has_stage = "evaluate" in SYSTEMS[run.recipe.system].stages
    file = run.stage("evaluate") / FIGURES_FILE
    return file.read_text(encoding="utf-8") if has_stage and run.is_done("evaluate") else ""


def write_card(run: Run, folder: Path, figures: str = "") -> None:
    """Write CARD.md; `figures` = what `evaluate` printed, empty before it ran."""
    recipe = run.recipe
    parts = sorted(file for file in folder.rglob("*.safetensors"))
    sizes = "\n".join(f"| {file.relative_to(folder)} | {file.stat().st_size:,} |" for file in parts)
    sources = "\n".join(f"- {LICENCES[name]}" for name in recipe.corpus.synthesisers)
    hours = read_json(run.stage("corpus") / "manifest.json").get("hours", 0.0)
    command = "run the stage `evaluate`"
    if system := systems.find(recipe.system):
        command = f"run `python -m engine.training compare --only {system.title}`"
    reached, limits = (
        "".join(f"- {sentence}\n" for sentence in some)
        for some in (recipe.export.reached, recipe.export.limits)
    )
    table = f"{_READING}\n{figures}" if figures else ""
    measured = table or reached or f"Not measured yet: {command}."
    limits = f"\n## What keeps it from its targets\n{limits}" if limits else ""
    own = _ALONE if recipe.system == VOXTREAM else _CLONES
    text = f"""# {recipe.export.name}

{SYSTEMS[recipe.system].card} trained from scratch by the stages of
`python -m engine.training` on {hours} hours of speech from free synthesisers. Its recipe says how.
{begun_with(recipe)}
## Made from
{sources}
- Text: sentences of our own grammar, and {1 - recipe.corpus.grammar_share:.0%} prose from Debian's
  manuals; none of that text is in the pack.

## Sizes, bytes
| file | bytes |
|---|---|
{sizes}

## What it reaches
{measured}

## What it cannot do
{_LIMITS}{own}{limits}"""
    (folder / CARD_FILE).write_text(text, encoding="utf-8")
