"""Files of learnt voices that are not chosen yet, and of refused ones; loads no model.

Invariant: a learnt voice replaces its blend only when it is chosen, and only while recipe and
recording are those it was learnt from. A file is named after the recording, so renaming the voice
changes nothing.
"""

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from engine.atomic_write import replace_file
from engine.errors import EngineError, InvalidInput
from engine.translatable import from_json, to_json
from engine.tts import voices
from engine.tts.kokoro.voices import LEARNT, NAME
from engine.typed_values import read_json

_LETTERS: Final = 16  # of a digest, in the name of a file
_LARGEST_REFUSAL: Final = 10_000  # bytes


def learnt_path(recording: str, within: Path | None = None) -> Path:
    """Return the file for the voice learnt from a recording (Clip.digest)."""
    folder = (within or voices.folder()) / voices.LEARNT_FOLDER
    return folder / f"{recording[:_LETTERS]}{voices.SUFFIX}"


def refuse(recording: str, text: str, reason: str) -> None:
    """Store the reason for not offering a voice learnt from this text. OSError."""
    document = {"recipe": LEARNT, "text": text, "reason": to_json(reason)}
    file = _refusal_file(recording)
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, json.dumps(document))


def refusal(recording: str, text: str) -> str:
    """Return the reason of refuse(); empty without one for this text and today's recipe."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        document = read_json(_refusal_file(recording), _LARGEST_REFUSAL)
        if (document["recipe"], document["text"]) == (LEARNT, text):
            return from_json(document["reason"])
    return ""


def _refusal_file(recording: str) -> Path:
    return learnt_path(recording).with_name(f"{recording[:_LETTERS]}.refused.json")


def is_current(file: Path) -> bool:
    """Return True if the learnt voice was made by the current recipe."""
    with suppress(EngineError):
        return voices.header(file).recipe_version == LEARNT
    return False


def learnt_file(name: str) -> Path | None:
    """Return the file of a learnt voice by today's recipe that is not chosen yet."""
    return file_of(voices.with_recording(name, model=NAME))


def file_of(voice: voices.SavedVoice) -> Path | None:
    """Return learnt_file() for a voice with its recording."""
    file = learnt_path(voice.recording, voice.path.parent)
    return file if file.is_file() and is_current(file) else None


def choose(name: str, *, learnt: bool, within: Path | None = None) -> None:
    """Use the learnt voice or the blend from now on, and delete the other. InvalidInput if there is
    no learnt voice to choose.
    """
    voice = voices.with_recording(name, within, NAME)
    file = file_of(voice)
    if file is None:
        raise InvalidInput("Nothing was learnt of '{name}' yet.", name=name)
    if learnt:
        made = replace(voices.load(file), name=voice.name)
        voices.save(made, voice.path.parent, voices.load_clip(voice.path))
    file.unlink(missing_ok=True)
