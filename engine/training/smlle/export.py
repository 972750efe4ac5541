"""The stage `export` of SMLLE: its networks as one pack, half precision, with named voices.

A named voice's prompt is one utterance of its speaker with its text, as the paper's prompts; a
recording's text stays unknown. Invariant: what is written is read back before the stage is done.
"""

import json
import shutil
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from safetensors.torch import load_file

from engine.training import checkpoints
from engine.training.export import by_difference, finish, pack_folder, save_weights
from engine.training.run import Run, read_json
from engine.training.smlle.transducer import STEPS_PER_SECOND, shape_of
from engine.training.smlle.utterances import Encoded, own_rate, read_tokens
from engine.tts import voices
from engine.tts.base import Voice
from engine.tts.pack_files import PHONES_FILE
from engine.tts.packs import CONFIG_FILE, VOICES_FOLDER
from engine.tts.phones import MARKS
from engine.tts.smlle import pack
from engine.tts.smlle.config import Generation, Shape

PROMPT_SECONDS: Final = (2.0, 6.0)  # of a named voice; the training's are 3 s
_PLACES: Final = {  # by the stage that writes a file of the same name
    "transducer": pack.TRANSDUCER_FILE,
    "spectrum": pack.SPECTRUM_FILE,
    "decoder": pack.VOCODER_FILE,
    "semantic": pack.SEMANTIC_FILE,
    "speaker": pack.SPEAKER_FILE,
}
_HALVED: Final = ("transducer", "spectrum")


def export_pack(run: Run) -> None:
    """Write the pack. ModelError when it cannot be read back."""
    inputs = run.require("corpus", "tokens", *_PLACES)
    folder, shape = pack_folder(run), shape_of(run)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / VOICES_FOLDER).mkdir(parents=True)
    for name, place in _PLACES.items():
        file = run.stage(name) / place
        half = run.recipe.export.half and name in _HALVED
        save_weights(load_file(file), folder / place, checkpoints.metadata(file), half=half)
    ids = read_json(run.stage("tokens") / "phones.json")
    content = json.dumps({**ids, **MARKS}, ensure_ascii=False, indent=0)
    (folder / PHONES_FILE).write_text(content, encoding="utf-8")
    people = read_tokens(run).training
    spoken = [utterance for person in people.values() for utterance in person]
    config = pack.PackConfig(run.recipe.export.name, shape, generation(run, own_rate(spoken)))
    (folder / CONFIG_FILE).write_text(pack.pack_json(config), encoding="utf-8")
    named = _name_voices(run, folder, people, shape)
    pack.load(folder)
    finish(run, inputs, named)


def generation(run: Run, rate: float) -> Generation:
    """How the pack speaks: as its networks learnt to. `rate` in SPS, of the corpus."""
    export, spectrum = run.recipe.export, run.recipe.spectrum
    return Generation(
        temperature=export.temperature,
        dropout=spectrum.dropout,
        latents=spectrum.latents,
        delete_bos=spectrum.delete_bos,
        passage_steps=round(export.passage_seconds * STEPS_PER_SECOND),
        own_rate=rate,
    )


def _name_voices(
    run: Run, folder: Path, people: dict[int, tuple[Encoded, ...]], shape: Shape
) -> list[str]:
    """Write the recipe's named voices: the speakers it names, or such as sound most different."""
    export = run.recipe.export
    vectors = {
        number: np.mean([each.vector for each in said], axis=0) for number, said in people.items()
    }
    chosen = export.speakers or by_difference(run.recipe, vectors)
    order = [number for number in chosen if number in people]
    for called, number in zip(export.voices, order, strict=False):
        prompt = _prompt(people[number])
        tensors: dict[str, npt.NDArray[np.generic]] = {
            "tokens": prompt.tokens,
            "phones": prompt.aligned(shape.begin, shape.end).astype(np.int16),
            "mel": prompt.mel,
            "speaker": prompt.vector,
        }
        voice = Voice(called, export.name, tensors, {"speaker": str(number)})
        voices.save(voice, folder / VOICES_FOLDER)
    return list(export.voices[: len(order)])


def _prompt(utterances: tuple[Encoded, ...]) -> Encoded:
    """An utterance of good length; the longest where there is none."""
    shortest, longest = (seconds * STEPS_PER_SECOND for seconds in PROMPT_SECONDS)
    good = [each for each in utterances if shortest <= each.steps <= longest]
    return max(good or utterances, key=lambda each: each.steps)
