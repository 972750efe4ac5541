"""Which settings make a model the one in use.

Invariant: all settings of one choice belong to one part, and the first names its engine; what
'auto' means here is chosen as 'auto', so that a measurement can still change it.
"""

from engine.asr import pick as ears
from engine.errors import InvalidInput
from engine.messages.models import ModelEntry, Origin, Presence
from engine.models.listing import RECOGNISER
from engine.models.storage import default_store, usable_path, with_needs
from engine.settings import RecogniserSettings, SpeechSettings, Value
from engine.tts import pick as speech

Changes = tuple[tuple[str, Value], ...]


def changes(entry: ModelEntry) -> Changes:
    """Keys and values that choose this model. InvalidInput says why it cannot be used."""
    if entry.obstacle:
        raise InvalidInput("{name} cannot be used now.", hint=entry.obstacle, name=entry.title)
    if entry.state is not Presence.COMPLETE:
        raise InvalidInput(
            "{name} is not on this machine.",
            hint="Fetch it with: {command}",
            name=entry.title,
            command=f"rubato models get {entry.name}",
        )
    match entry.kind:
        case "recogniser":
            return _ears(entry)
        case "language model":
            return _mind(entry)
    automatic = speech.choose(SpeechSettings()).synthesiser
    is_automatic = entry.origin is Origin.LISTED and entry.name == automatic
    return (("speech.engine", speech.AUTO if is_automatic else entry.name),)


def _ears(entry: ModelEntry) -> Changes:
    if entry.origin is Origin.BUILT_IN:
        return ((f"{RECOGNISER}.engine", entry.name),)
    if entry.name == ears.choose(RecogniserSettings()).recogniser:
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
