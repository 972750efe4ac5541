"""What every voice pack is made of besides its networks: tables in JSON, and named voices.

Invariant: nothing is read further than it may be, and what is wrong is a ModelError that names the
file.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from engine.errors import InvalidInput, ModelError
from engine.tts import voices
from engine.tts.base import Voice
from engine.typed_values import read_json

PHONES_FILE: Final = "phones.json"
LARGEST_BYTES: Final = 1000 * 1024  # of a JSON file; a table of phones has some thousand
LONGEST_NAME: Final = 80
AGAIN: Final = "Install the program again, or make the pack again."


def read_object(file: Path) -> dict[str, Any]:
    """A JSON object. ModelError for a file that is missing, too large or nothing of the kind."""
    try:
        return read_json(file, LARGEST_BYTES)
    except (OSError, ValueError) as error:
        raise ModelError(f"{file} cannot be read: {error}.", hint=AGAIN) from error


def checked_name(value: object) -> str:
    """The name a pack gives itself. ValueError for what is none."""
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) <= LONGEST_NAME:
        raise ValueError(f"'name' is no name of at most {LONGEST_NAME} printable characters")
    return value


def named_voices(folder: Path, made_for: str) -> tuple[Voice, ...]:
    """The voices in a folder by name, as those of the model `made_for`; ModelError when one is
    damaged or none is there.
    """
    try:
        pack_voices = [voices.load(file) for file in sorted(folder.glob("*" + voices.SUFFIX))]
    except InvalidInput as error:
        raise ModelError(error.message, hint=AGAIN) from error
    if not pack_voices:
        raise ModelError(f"The voice pack {folder.parent} holds no voice.", hint=AGAIN)
    return tuple(replace(voice, model=made_for) for voice in pack_voices)
