"""Select the chat models from a server's list of models.

Invariant: pure; accepts any JSON.
"""

import re
from collections.abc import Mapping
from typing import Any

MAX_NAME_CHARS = 200  # of a model
MAX_MODELS = 1_000

# Servers list models of every kind; few have a field for it.
_OTHER_KINDS = re.compile(
    r"embed|rerank|(?<![a-z])(bge|gte|e5|whisper|tts|clip|dall-e|sdxl|flux)(?![a-z])|minilm|moderation"
    r"|stable-diffusion|transcribe"
)


def chat_models(listing: object) -> list[str]:
    """Return the names of the chat models, or of all models if none is a chat model."""
    data = listing.get("data") if isinstance(listing, Mapping) else None
    entries = data[:MAX_MODELS] if isinstance(data, list) else ()
    objects = (each for each in entries if isinstance(each, Mapping))
    named = {each["id"]: each for each in objects if each.get("id") and isinstance(each["id"], str)}
    return [name for name, entry in named.items() if can_chat(name, entry)] or list(named)


def can_chat(name: str, entry: Mapping[str, Any]) -> bool:
    """Return whether a model can be a chat model by its name and entry."""
    kind = f"{name} {entry.get('type') or ''}".lower()
    return not _OTHER_KINDS.search(kind)
