"""Taking a model away: a fetched one is deleted, an added one is forgotten.

Invariant: nothing that is in use goes, and nothing that this program did not fetch is deleted.
"""

from typing import Final

from engine.errors import InvalidInput
from engine.messages.models import ModelEntry, Origin
from engine.models import storage
from engine.models.added import forget
from engine.settings_file import data_folder
from engine.translatable import Translatable

_ANOTHER: Final = {  # by the kind that has to be changed
    "recogniser": Translatable("Use another recogniser first, then remove it."),
    "language model": Translatable("Use another language model first, then remove it."),
}
_ANOTHER_VOICE: Final = Translatable("Use another voice first, then remove it.")  # or a part of it


def remove(entry: ModelEntry) -> int:
    """Returns the bytes freed. InvalidInput says why it must stay, AssetError that it is being
    fetched.
    """
    if entry.in_use:
        raise InvalidInput(
            "{name} is in use, so it stays.",
            hint=_ANOTHER.get(entry.kind, _ANOTHER_VOICE),
            name=entry.title,
        )
    match entry.origin:
        case Origin.BUILT_IN:
            raise InvalidInput(
                "{name} belongs to the program.", hint="It cannot go.", name=entry.title
            )
        case Origin.SERVER:
            raise InvalidInput(
                "{name} {what}.",
                hint="Remove it with that program.",
                name=entry.title,
                what=entry.attribution,
            )
        case Origin.MADE:
            raise InvalidInput(
                "{name} took hours to make, so it stays.",
                hint="Delete it yourself: {path}",
                name=entry.title,
                path=entry.folder,
            )
        case Origin.ADDED:
            forget(entry.folder, data_folder())
            return 0
    return storage.remove(entry.name)


def told(entry: ModelEntry, freed_bytes: int) -> str:
    """What remove() did, in a sentence."""
    if entry.origin is Origin.ADDED:
        return f"{entry.folder} is no longer listed; the file itself was left alone."
    if not freed_bytes:
        return f"Nothing of {entry.name} is here."
    return f"{freed_bytes / 1e6:.1f} MB were freed."
