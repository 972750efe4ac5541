"""Taking a model away: a fetched one is deleted, an added one is forgotten.

Invariant: nothing that is in use goes, and nothing that this program did not fetch is deleted.
"""

from engine.errors import InvalidInput
from engine.messages.models import ModelEntry, Origin
from engine.models import storage
from engine.models.added import forget
from engine.settings_file import data_folder


def remove(entry: ModelEntry) -> int:
    """Returns the bytes freed. InvalidInput says why it must stay, AssetError that it is being
    fetched.
    """
    if entry.in_use:
        raise InvalidInput(
            f"{entry.title} is in use, so it stays.",
            hint=f"Use another {_whole(entry)} first, then remove it.",
        )
    match entry.origin:
        case Origin.BUILT_IN:
            raise InvalidInput(f"{entry.title} belongs to the program.", hint="It cannot go.")
        case Origin.SERVER:
            raise InvalidInput(
                f"{entry.title} {entry.attribution}.", hint="Remove it with that program."
            )
        case Origin.MADE:
            raise InvalidInput(
                f"{entry.title} took hours to make, so it stays.",
                hint=f"Delete it yourself: {entry.folder}",
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


def _whole(entry: ModelEntry) -> str:
    """The kind that has to be changed: a part goes with its voice."""
    return entry.kind if entry.kind in ("recogniser", "language model") else "voice"
