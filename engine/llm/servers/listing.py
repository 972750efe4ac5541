"""Select the chat models from a server's list of models.

Invariant: pure; accepts any JSON.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

MAX_NAME_CHARS = 200  # of a model
MAX_MODELS = 1_000

# Servers list models of every kind; few have a field for it.
_OTHER_KINDS = re.compile(
    r"embed|rerank|(?<![a-z])(bge|gte|e5|whisper|tts|clip|dall-e|sdxl|flux)(?![a-z])|minilm|moderation"
    r"|stable-diffusion|transcribe"
)


def chat_models(listing: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return names and entries of the chat models, or of all models if none is a chat model."""
    found = list(_models(listing))
    yield from [each for each in found if can_chat(*each)] or found


def _models(listing: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    data = listing.get("data") if isinstance(listing, Mapping) else None
    for entry in data[:MAX_MODELS] if isinstance(data, list) else ():
        name = entry.get("id") if isinstance(entry, Mapping) else None
        if isinstance(name, str) and name:
            yield name, entry


def can_chat(name: str, entry: Mapping[str, Any]) -> bool:
    """Return whether a model can be a chat model by its name and entry."""
    kind = f"{name} {entry.get('type') or ''}".lower()
    return not _OTHER_KINDS.search(kind)
