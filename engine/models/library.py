"""Operations on models for a host without a window: by name, on the calling thread.

Invariant: the settings are those of the user's file, and a choice is written there.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from engine import settings_file
from engine.assets.store import Show
from engine.messages.models import ModelEntry, Presence, Recommendation
from engine.models import choice, listing, recommended, storage
from engine.models.added import add
from engine.models.listing import this_machine
from engine.models.servers import PORTS, find_served
from engine.settings import Changes, Settings, change_all


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
        """Fetch a model and everything it needs; `show` gets file, bytes done and in total. Return
        their folders. InvalidInput, AssetError.
        """
        return storage.fetch(name, show)

    def verify(self, name: str, show: Show) -> tuple[str, ...]:
        """Return one sentence per file that has changed since it was fetched. InvalidInput."""
        return storage.verify(name, show)

    def remove(self, name: str) -> Removed:
        """Delete a fetched model, or forget an added one. InvalidInput if it must stay."""
        chosen = listing.entry(self._named(name), self._settings)
        freed = choice.remove(chosen)
        return Removed(freed, choice.removal_text(chosen, freed))

    def use(self, name: str) -> Changes:
        """Write the choice of a model to the settings file; it applies from the next start.

        InvalidInput if the name is unknown or the model cannot be used, SettingsError if the file
        cannot be written.
        """
        served = find_served() if name.split("/")[0] in PORTS else ()
        chosen = choice.changes(listing.entry(self._named(name), self._settings, served))
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
