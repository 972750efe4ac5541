"""Choose a model by changing settings; remove one: a fetched model is deleted, an added one
forgotten. And all operations by name, on the calling thread, for a host without a window.

Invariant: all settings of one choice belong to one part, and the first is its engine. The model
that 'auto' resolves to is chosen as 'auto', so a measurement can still change it. Models in use
stay, and only files that this program fetched are deleted.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from engine import settings_file
from engine.asr import pick as ears
from engine.assets.store import Show
from engine.errors import InvalidInput
from engine.messages.models import ModelEntry, ModelKind, Origin, Presence, Recommendation
from engine.models import listing, recommended, storage
from engine.models.listing import this_machine
from engine.models.servers import PORTS, find_served
from engine.models.storage import add, default_store, forget, usable_path, with_needs
from engine.settings import (
    Changes,
    RecogniserSettings,
    SettingKey,
    Settings,
    SpeechSettings,
    change_all,
)
from engine.settings_file import data_folder
from engine.translatable import Translatable
from engine.tts import pick as speech


def changes(entry: ModelEntry) -> Changes:
    """Return keys and values that choose this model. InvalidInput says why it cannot be used."""
    if entry.obstacle:
        raise InvalidInput("{name} cannot be used now.", hint=entry.obstacle, name=entry.title)
    if entry.state is not Presence.COMPLETE:
        raise InvalidInput(
            "{name} is not on this machine.",
            hint="Fetch it with: {command}",
            name=entry.title,
            command=f"rubato models get {entry.name}",
        )
    if entry.kind == ModelKind.RECOGNISER:
        return _recogniser(entry)
    if entry.kind == ModelKind.LANGUAGE_MODEL:
        return _language_model(entry)
    # The setting refuses a part of a voice.
    automatic = speech.choose(SpeechSettings()).synthesiser
    is_automatic = entry.origin is Origin.LISTED and entry.name == automatic
    return ((SettingKey.SYNTHESISER, speech.AUTO if is_automatic else entry.name),)


def _recogniser(entry: ModelEntry) -> Changes:
    if entry.origin is Origin.BUILT_IN:
        return ((SettingKey.RECOGNISER, entry.name),)
    if entry.name == ears.choose(RecogniserSettings()).recogniser:
        return ((SettingKey.RECOGNISER, ears.AUTO), (SettingKey.RECOGNISER_MODEL, ""))
    return ((SettingKey.RECOGNISER, ears.WHISPER), (SettingKey.RECOGNISER_MODEL, entry.folder))


def _language_model(entry: ModelEntry) -> Changes:
    engine, model = SettingKey.LANGUAGE_MODEL, SettingKey.MODEL_NAME
    match entry.origin:
        case Origin.BUILT_IN:
            return ((engine, entry.name),)
        case Origin.SERVER:
            named = ((SettingKey.SERVER_ADDRESS, entry.folder), (model, entry.title))
            return ((engine, "server"), *named, (SettingKey.SERVER_KEY_VARIABLE, ""))
        case Origin.ADDED:
            return ((engine, "llama"), (model, entry.folder))
    (asset,) = with_needs(entry.name)
    return ((engine, "llama"), (model, str(usable_path(asset, default_store()))))


def remove(entry: ModelEntry) -> int:
    """Remove a model; return the bytes freed. InvalidInput if it must stay, AssetError."""
    if entry.in_use:
        raise InvalidInput(
            "{name} is in use, so it stays.",
            hint="Use another model of its kind first, then remove this one.",
            name=entry.title,
        )
    match entry.origin:
        case Origin.BUILT_IN:
            raise InvalidInput(
                "{name} belongs to the program.", hint="It cannot be removed.", name=entry.title
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


def removal_text(entry: ModelEntry, freed_bytes: int) -> str:
    """Describe the result of remove() in a sentence."""
    if entry.origin is Origin.ADDED:
        return Translatable(
            "{path} is no longer listed; the file itself was left alone.", path=entry.folder
        )
    if not freed_bytes:
        return Translatable("{name} has no files here.", name=entry.name)
    return Translatable("{megabytes} MB were freed.", megabytes=f"{freed_bytes / 1e6:.1f}")


@dataclass(frozen=True)
class Removed:
    """The freed space, and a sentence that describes the removal."""

    freed_bytes: int
    text: str


class ModelLibrary:
    """The models under these settings."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def models(self, *, servers: bool = False) -> tuple[ModelEntry, ...]:
        """Return all models; `servers`: include those of servers on this machine."""
        return listing.entries(self._settings, find_served() if servers else ())

    def recommendation(self) -> Recommendation:
        """Return the models that fit this machine."""
        return recommended.recommendation(self.models(), this_machine())

    def wanted(self, names: Iterable[str]) -> tuple[ModelEntry, ...]:
        """Return the incomplete models that a fetch of these would complete. InvalidInput."""
        assets = {asset.name for name in names for asset in storage.with_needs(name)}
        return tuple(
            each
            for each in self.models()
            if each.name in assets and each.state is not Presence.COMPLETE
        )

    def fetch(self, name: str, show: Show) -> tuple[Path, ...]:
        """Fetch a model and its needs; return their folders. InvalidInput, AssetError."""
        return storage.fetch(name, show)

    def verify(self, name: str, show: Show) -> tuple[str, ...]:
        """Return one sentence per file that has changed since it was fetched. InvalidInput."""
        return storage.verify(name, show)

    def remove(self, name: str) -> Removed:
        """Delete a fetched model, or forget an added one. InvalidInput if it must stay."""
        chosen = listing.entry(self._named(name), self._settings)
        freed = remove(chosen)
        return Removed(freed, removal_text(chosen, freed))

    def use(self, name: str) -> Changes:
        """Write the choice of a model to the settings file, for the next start. InvalidInput,
        SettingsError.
        """
        served = find_served() if name.split("/")[0] in PORTS else ()
        chosen = changes(listing.entry(self._named(name), self._settings, served))
        after = change_all(self._settings, chosen)
        settings_file.save(after, settings_file.default_path(), self._settings)
        self._settings = after
        return chosen

    def add(self, path: Path) -> tuple[str, ...]:
        """Add the user's files to the list; return their names. InvalidInput."""
        return tuple(each.path for each in add(path, settings_file.data_folder()))

    def _named(self, name: str) -> str:
        """Return the path of an added model as in the list, otherwise the name itself."""
        path = str(Path(name).expanduser().absolute())
        return path if any(each.name == path for each in self.models()) else name
