"""Shapes of VoXtream's weights and constants of its generation, with their sources.

The shapes are a ModelConfig as VoXtream2's: the same three stacks. "VoXtream, 2" is a section of
its paper; "released" is the value in its published settings, where the paper does not state one.
Invariant: nothing here depends on a rate, which the system does not have.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

from engine.settings.rules import Range
from engine.tts.pack_files import check_system, read_config
from engine.tts.voxtream.config import (
    DURATION_TOKENS,
    LEAST_ROOM,
    NEVER,
    SPECIAL_CODES,
    ModelConfig,
    check_shape,
)
from engine.typed_values import build, drop_settled

NAME: Final = "voxtream"
# Stay or move on by one phone; one or two phones a frame (VoXtream, 2). VoXtream2 can skip one.
TOKENS: Final = DURATION_TOKENS[:4]
MOVES_ON: Final = 2  # the first of them that leaves the last phone


@dataclass(frozen=True)
class Voxtream1Generation:
    """Constants of generation."""

    temperature: Annotated[float, Range(0.01, 100)] = 0.9  # released
    top: Annotated[int, Range(1, 65_536)] = 5  # labels drawn from, and acoustic codes; released
    # phones; a frame with this many ahead never waits for a word (VoXtream, 2)
    look_ahead: Annotated[int, Range(1, 1000)] = 10
    # most frames after the first one on the closing silence; released
    end_frames: Annotated[int, Range(1, 1000)] = 5
    # most frames of a phone: ours, the released loop has no limit
    held_frames: Annotated[int, Range(1, LEAST_ROOM // 2)] = 25
    # a passage this long ends with its sentence: ours
    passage_frames: Annotated[int, Range(1, 999_999)] = NEVER


# Keys of the network of acoustic codes. The paper takes it from another model, CSM, without
# training it (VoXtream, 3.1); so may a pack, from the built-in voice.
FROZEN: Final = ("audio_embeddings.", "audio_head", "dep_former.")
MIN_LOOK_AHEAD: Final = 1  # phone; without it a frame has to wait (VoXtream, 2)


@dataclass(frozen=True)
class Voxtream1PackConfig:
    """Contents of a pack's config.json."""

    name: str
    shape: ModelConfig
    generation: Voxtream1Generation
    system: str = NAME
    frozen: str = ""  # hash of the FROZEN tensors of the built-in voice; "" = in the pack itself


def read_pack_config(file: Path) -> Voxtream1PackConfig:
    """Read a pack's configuration. ModelError when the file is missing, damaged, or describes
    networks that cannot be built.
    """
    return read_config(file, Voxtream1PackConfig, _check, _made)


def _made(entries: dict[str, Any]) -> Voxtream1PackConfig:
    drop_settled(entries.get("shape"), special_codes=SPECIAL_CODES)
    return build(Voxtream1PackConfig, entries, defaults=False)


def _check(config: Voxtream1PackConfig) -> None:
    shape, generation = config.shape, config.generation
    check_system(config.system, NAME)
    check_shape(shape)
    if shape.duration_tokens != len(TOKENS):
        raise ValueError("it has other duration tokens")
    if generation.top > shape.codes:
        raise ValueError(f"'top' is {generation.top} of {shape.codes} codes")
