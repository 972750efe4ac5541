"""What the pack of VoXtream has of its own: a table without rates, and named voices whose prompts
have their text.

Invariant: a prompt is whole utterances of one speaker with the phones and times they were made of.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import torch

from engine.codec.small import FRAME_RATE
from engine.training.recipe import Recipe
from engine.training.run import Run
from engine.training.voice.model import model_config
from engine.training.voice.utterances import Encoded, read_encoded
from engine.tts import voices as voice_files
from engine.tts.base import Voice
from engine.tts.packs import VOICES_FOLDER
from engine.tts.voxtream.config import FULL
from engine.tts.voxtream.files.checkpoint import Target
from engine.tts.voxtream.original.config import Generation, PackConfig
from engine.tts.voxtream.original.synthesiser import load_pack

PROMPT_FRAMES: Final = 100  # 8 s; the paper takes 10 s at most
OWN_RATE: Final = 4.0  # SPS; utterances nearest to it make the prompt


def pack_config(recipe: Recipe) -> PackConfig:
    """What the pack says of itself."""
    shape = model_config(recipe.voice, recipe.codec, recipe.speaker, recipe.system)
    return PackConfig(recipe.export.name, shape, generation(recipe))


def generation(recipe: Recipe) -> Generation:
    """The constants of generation that go with the weights."""
    return Generation(
        temperature=recipe.export.temperature,
        passage_frames=round(recipe.export.passage_seconds * FRAME_RATE),
    )


def name_voices(run: Run, folder: Path) -> list[str]:
    """Write the recipe's named voices, of the speakers it names or the first there are; then read
    the pack back.
    """
    people = read_encoded(run).training.people
    named = []
    for called, number in zip(
        run.recipe.export.voices, run.recipe.export.speakers or sorted(people), strict=False
    ):
        voice = prompt_voice(people[number], called, run.recipe.export.name)
        voice_files.save(voice, folder / VOICES_FOLDER)
        named.append(called)
    load_pack(folder, FULL, Target(torch.device("cpu"), torch.float32, threads=1))
    return named


def prompt_voice(person: Sequence[Encoded], name: str, model: str) -> Voice:
    """A voice from about PROMPT_FRAMES of a speaker: whole utterances, nearest to a usual rate."""
    parts: list[Encoded] = []
    for utterance in sorted(person, key=lambda each: abs(_rate(each) - OWN_RATE)):
        if sum(part.frames for part in parts) >= PROMPT_FRAMES:
            break
        parts.append(utterance)
    spans, phones = [], 0
    for part in parts:
        speech = part.spans() + phones
        phones += len(part.phones)
        pause = np.full((part.frames - len(speech), 2), phones - 1)
        spans += [speech, pause]
    vector = np.mean([part.vector for part in parts], axis=0)
    tensors = {
        "codes": np.concatenate([part.codes for part in parts], axis=1).astype(np.int16),
        "phones": np.concatenate([part.phones for part in parts]).astype(np.int16),
        "spans": np.concatenate(spans).astype(np.int16),
        "speaker": (vector / np.linalg.norm(vector)).astype(np.float32),
    }
    return Voice(name, model, tensors, {"speaker": str(parts[0].speaker)})


def _rate(utterance: Encoded) -> float:
    """Syllables a second of its speech."""
    return float(utterance.nuclei.sum()) * FRAME_RATE / max(1, len(utterance.tokens))
