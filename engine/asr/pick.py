"""What the recogniser 'auto' is on this machine: Whisper base where it was fetched and is quick
enough, else the built-in one.

Invariant: a file that is no measurement counts as none, and what was fetched is used until it is
measured. Imports no recogniser.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from engine.assets.catalogue import find
from engine.assets.store import State, Store
from engine.errors import ModelError
from engine.picks import read_pick, write_pick
from engine.settings import RecogniserSettings
from engine.settings_file import data_folder

AUTO: Final = "auto"
BUILT_IN: Final = "sphinx"  # needs no download
WHISPER: Final = "whisper"
ASSET: Final = "whisper-base"
SPHINX_LANGUAGES: Final = ("", "auto", "en")
SLOWEST_MS: Final = 900.0  # from the end of speech to its transcript; later ones make talk halting
FILE: Final = "recogniser.json"


@dataclass(frozen=True)
class Pick:
    """What 'auto' is from now on, and why in one sentence."""

    recogniser: str
    reason: str


def judge(final_ms: float) -> Pick:
    """By what Whisper takes from the end of speech to the transcript."""
    took = f"Whisper has a sentence written {final_ms / 1000:.1f} s after its end"
    if final_ms <= SLOWEST_MS:
        return Pick(WHISPER, f"{took}.")
    return Pick(BUILT_IN, f"{took}, more than {SLOWEST_MS / 1000:.1f} s.")


def keep(pick: Pick, folder: Path) -> None:
    """Write the pick into the data folder. SettingsError when it cannot be written."""
    write_pick(pick, folder / FILE, what="recogniser", setting="recogniser.engine")


def find_pick(folder: Path) -> Pick | None:
    """What was picked for this machine; None when nothing was measured."""
    pick = read_pick(Pick, folder / FILE)
    return pick if pick is not None and pick.recogniser in (BUILT_IN, WHISPER) else None


def check_language(language: str) -> None:
    """ModelError when the built-in recogniser does not understand it."""
    if language not in SPHINX_LANGUAGES:
        raise ModelError(
            f"The built-in recogniser understands English only, not '{language}'.",
            hint="Choose English, or the recogniser 'whisper' with a multilingual model.",
        )


def resolve(settings: RecogniserSettings) -> RecogniserSettings:
    """The settings with 'auto' replaced by what it is here, and Whisper without a folder by the one
    that was fetched, if it was.
    """
    fetched = _fetched()
    if settings.engine == AUTO:
        # In other languages slow ears are better than none.
        pick = find_pick(data_folder()) if settings.language in SPHINX_LANGUAGES else None
        if fetched is None or (pick is not None and pick.recogniser == BUILT_IN):
            return replace(settings, engine=BUILT_IN, model="")
        return replace(settings, engine=WHISPER, model=str(fetched))
    if settings.engine == WHISPER and not settings.model.strip() and fetched is not None:
        return replace(settings, model=str(fetched))
    return settings


def _fetched() -> Path | None:
    """The folder of Whisper base; None when it was not fetched whole."""
    store, asset = Store(data_folder() / "models"), find(ASSET)
    return store.path(asset) if store.state(asset) is State.COMPLETE else None
