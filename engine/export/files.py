"""Writing a conversation into a file whose suffix says how.

Invariant: a file is complete or not there (written under a temporary name, then renamed).
"""

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from engine.characters import whole
from engine.errors import InvalidInput
from engine.export import documents
from engine.export.conversation import Conversation
from engine.export.subtitles import subtitles
from engine.translatable import Translatable

SOUND = ".wav"  # of a conversation that was recorded: see engine.audio.clips.recording
WRITERS: Mapping[str, Callable[[Conversation], str]] = MappingProxyType(
    {
        ".txt": documents.plain,
        ".md": documents.markdown,
        ".json": documents.as_json,
        ".srt": subtitles,
    }
)


def check_suffix(path: Path) -> None:
    """InvalidInput when no format has the suffix of `path`."""
    known = (*WRITERS, SOUND)
    if path.suffix.lower() not in known:
        raise InvalidInput(
            "A conversation cannot be written as '{suffix}'.",
            hint=Translatable(
                "Give the file a name that ends in {suffixes} or {suffix}.",
                suffixes=", ".join(known[:-1]),
                suffix=known[-1],
            ),
            suffix=path.suffix or path.name,
        )


def check_sound(path: Path) -> None:
    """InvalidInput when the name of `path` promises something else than a WAV."""
    if path.suffix.lower() != SOUND:
        raise InvalidInput(
            "Sound is written as WAV, not as '{suffix}'.",
            hint=Translatable("Give the file a name that ends in {suffix}.", suffix=SOUND),
            suffix=path.suffix or path.name,
        )


def write(conversation: Conversation, path: Path) -> None:
    """Write the format that the suffix names. InvalidInput when it names none, when there is
    nothing to write, or when the file cannot be written.
    """
    check_suffix(path)
    if not conversation.turns:
        raise InvalidInput("There is no conversation yet.", hint="Say or type something first.")
    put(path, (WRITERS[path.suffix.lower()](conversation),))


def put(path: Path, texts: Iterable[str]) -> None:
    """Write a file of these texts, one after another. InvalidInput when it cannot be written."""
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".rubato-", suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(map(whole, texts))
        Path(temporary).replace(path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)


def unwritable(path: Path, error: Exception) -> InvalidInput:
    """What to tell the person when `path` could not be written because of `error`."""
    reason = getattr(error, "strerror", None) or error
    return InvalidInput(
        "The file {path} cannot be written: {error}.",
        hint="Choose a place that exists, where you may write and where there is room.",
        path=path,
        error=reason,
    )
