"""Which settings make a model the one in use.

Invariant: all settings of one choice belong to one part, and the first names its engine.
"""

from engine.asr import pick as ears
from engine.errors import InvalidInput
from engine.messages.models import ModelEntry, Origin, Presence
from engine.models.listing import RECOGNISER
from engine.models.storage import default_store, usable_path, with_needs
from engine.settings import Value
from engine.settings_file import data_folder

Changes = tuple[tuple[str, Value], ...]


def changes(entry: ModelEntry) -> Changes:
    """Keys and values that choose this model. InvalidInput says why it cannot be used."""
    if entry.obstacle:
        raise InvalidInput(f"{entry.title} cannot be used now.", hint=entry.obstacle)
    if entry.state is not Presence.COMPLETE:
        raise InvalidInput(
            f"{entry.title} is not on this machine.",
            hint=f"Fetch it with: rubato models get {entry.name}",
        )
    match entry.kind:
        case "recogniser":
            return _ears(entry)
        case "language model":
            return _mind(entry)
    return (("speech.engine", entry.name),)


def _ears(entry: ModelEntry) -> Changes:
    if entry.origin is Origin.BUILT_IN:
        return ((f"{RECOGNISER}.engine", entry.name),)
    pick = ears.find_pick(data_folder())
    if entry.name == ears.ASSET and (pick is None or pick.recogniser != ears.BUILT_IN):
        return ((f"{RECOGNISER}.engine", ears.AUTO), (f"{RECOGNISER}.model", ""))
    return ((f"{RECOGNISER}.engine", ears.WHISPER), (f"{RECOGNISER}.model", entry.folder))


def _mind(entry: ModelEntry) -> Changes:
    engine, model = "language_model.engine", "language_model.model"
    match entry.origin:
        case Origin.BUILT_IN:
            return ((engine, entry.name),)
        case Origin.SERVER:
            named = (("language_model.address", entry.folder), (model, entry.title))
            return ((engine, "server"), *named, ("language_model.key_variable", ""))
        case Origin.ADDED:
            return ((engine, "llama"), (model, entry.folder))
    (asset,) = with_needs(entry.name)
    return ((engine, "llama"), (model, str(usable_path(asset, default_store()))))
