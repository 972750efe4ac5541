"""The stage `variants`: the paper's claims, each as a pack beside the plain one, which `compare`
then measures as a row of its own.

Some differ only in how the same networks are used; three learn the spectrum again, with the plain
one's schedule. Invariant: a variant differs from the plain pack only in what its name says.
"""

from dataclasses import dataclass, field, replace
from typing import Any, Final

from safetensors.torch import load_file, save_file

from engine.training.loop import train
from engine.training.packing import install_variant, pack_folder
from engine.training.ranks import is_first
from engine.training.run import Run
from engine.training.smlle.spectrum import SpectrumLearner
from engine.training.smlle.transducer import shape_of
from engine.training.smlle.utterances import read_tokens
from engine.tts import packs
from engine.tts.smlle import pack

SWITCHES: Final = {
    "smlle-prompt-mechanism": {"prompt_delete_bos": True},
    "smlle-means": {"latents": False},  # learnt with latents, spoken without drawing them
}


@dataclass(frozen=True)
class Learnt:
    """A variant with a spectrum of its own: changes of its recipe, and of how the pack is used."""

    recipe: dict[str, Any]
    generation: dict[str, Any] = field(default_factory=dict)


LEARNT: Final = {
    "smlle-no-flux": Learnt({"flux": 0.0}),
    "smlle-no-latents": Learnt({"latents": False}, {"latents": False}),
    "smlle-no-mechanism": Learnt({"delete_bos": False}, {"delete_bos": False}),
}


def make_variants(run: Run) -> None:
    """Train the variants that need it, and put all of them where `compare` looks for them."""
    inputs = run.require("tokens", "export")
    plain = pack.read_pack_config(pack_folder(run) / packs.CONFIG_FILE)

    def switched(switches: dict[str, Any]) -> pack.PackConfig:
        return replace(plain, generation=replace(plain.generation, **switches))

    for name, switches in SWITCHES.items():
        install_variant(run, name, switched(switches))
    for name, variant in LEARNT.items():  # hours; the ones above are there at once
        _learn(run, name, variant)
        weights = load_file(run.stage("variants") / name / pack.SPECTRUM_FILE)
        config = switched(variant.generation)
        install_variant(run, name, config, {pack.SPECTRUM_FILE: weights})
    run.finish("variants", inputs)


def _learn(run: Run, name: str, variant: Learnt) -> None:
    """Train a variant's spectrum, if it is not done."""
    file = run.stage("variants") / name / pack.SPECTRUM_FILE
    if file.is_file():
        return
    recipe = replace(run.recipe.spectrum, **variant.recipe)
    sides, shape = read_tokens(run), shape_of(run)
    mean = train(
        run,
        f"variants/{name}",
        recipe.schedule,
        lambda ranks: SpectrumLearner(recipe, shape, sides, ranks),
    )
    if is_first():
        partial = file.with_suffix(".partial")
        save_file(mean, partial)
        partial.replace(file)
