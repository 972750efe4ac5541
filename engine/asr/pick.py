"""What the recogniser 'auto' is on this machine: the best Whisper that was fetched and is quick
enough, else the built-in one.

Invariant: a file that is no measurement counts as none, and what was fetched is used until it is
measured. Imports no recogniser.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from engine.assets.store import Store
from engine.benchmark_choice import read_pick, write_pick
from engine.errors import ModelError
from engine.settings import RecogniserSettings
from engine.settings_file import data_folder
from engine.translatable import Translatable, joined

AUTO: Final = "auto"
BUILT_IN: Final = "sphinx"  # needs no download
WHISPER: Final = "whisper"
ASSET: Final = "whisper-base"
TINY: Final = "whisper-tiny"
TITLES: Final = {ASSET: "Whisper base", TINY: "Whisper tiny"}  # fewest words wrong first
SPHINX_LANGUAGES: Final = ("", "auto", "en")
# From the end of speech to its transcript. A person waits, but is understood: Whisper base gets
# 11 % of their words wrong, the built-in recogniser a third.
SLOWEST_MS: Final = 2000.0
FILE: Final = "recogniser.json"

NOT_FETCHED: Final = Translatable(
    "Whisper is not fetched ({command}).", command="rubato models get whisper-base"
)
UNMEASURED: Final = Translatable(
    "Whisper was fetched and is not measured yet ({command}).", command="rubato bench"
)
ENGLISH_ONLY: Final = Translatable("The built-in recogniser understands English only.")


@dataclass(frozen=True)
class Pick:
    """What 'auto' is, the built-in recogniser or a Whisper by its asset, and why in one sentence or
    two. `slow` are the Whispers that were measured and take too long.
    """

    recogniser: str
    reason: str
    slow: tuple[str, ...] = ()

    def measurement_of(self, asset: str) -> str:
        """The sentence about one Whisper; empty where it was not measured."""
        reason = self.reason
        sentences = reason.values.values() if isinstance(reason, Translatable) else ()
        for sentence in sentences:
            if isinstance(sentence, Translatable) and sentence.values["name"] == TITLES[asset]:
                return sentence
        return ""


def judge(base_ms: float | None, tiny_ms: float | None = None) -> Pick:
    """By what each Whisper takes from the end of speech to the transcript; None = not measured."""
    times = {ASSET: base_ms, TINY: tiny_ms}
    took = {name: ms for name, ms in times.items() if ms is not None}
    slow = tuple(name for name, ms in took.items() if ms > SLOWEST_MS)
    quick = next((name for name in took if name not in slow), BUILT_IN)
    return Pick(quick, joined(_reason(name, ms) for name, ms in took.items()), slow)


def _reason(name: str, ms: float) -> Translatable:
    return Translatable(
        "{name} has a sentence written {seconds} s after its end."
        if ms <= SLOWEST_MS
        else "{name} has a sentence written {seconds} s after its end, more than {limit} s.",
        name=TITLES[name],
        seconds=f"{ms / 1000:.1f}",
        limit=f"{SLOWEST_MS / 1000:.1f}",
    )


def keep(pick: Pick, folder: Path) -> None:
    """Write the pick into the data folder. SettingsError when it cannot be written."""
    write_pick(pick, folder / FILE, what="recogniser", setting="recogniser.engine")


def find_pick(folder: Path) -> Pick | None:
    """What the measurements say of this machine; None when there are none."""
    return read_pick(Pick, folder / FILE)


def check_language(language: str) -> None:
    """ModelError when the built-in recogniser does not understand it."""
    if language not in SPHINX_LANGUAGES:
        raise ModelError(
            "The built-in recogniser understands English only, not '{language}'.",
            hint="Choose English, or the recogniser 'whisper' with a multilingual model.",
            language=language,
        )


def choose(settings: RecogniserSettings) -> Pick:
    """What 'auto' is here for the language of these settings."""
    here, measured = fetched(), find_pick(data_folder())
    if not here:
        return Pick(BUILT_IN, NOT_FETCHED)
    if settings.language not in SPHINX_LANGUAGES:
        return Pick(next(iter(here)), ENGLISH_ONLY)  # slow ears are better than none
    known = measured or Pick(BUILT_IN, UNMEASURED)
    quick = next((name for name in here if name not in known.slow), BUILT_IN)
    return replace(known, recogniser=quick)


def resolve(settings: RecogniserSettings) -> RecogniserSettings:
    """The settings with 'auto' replaced by what it is here, and Whisper without a folder by the
    best that was fetched, if one was.
    """
    here = fetched()
    if settings.engine == AUTO:
        name = choose(settings).recogniser
        if name == BUILT_IN:
            return replace(settings, engine=BUILT_IN, model="")
        return replace(settings, engine=WHISPER, model=str(here[name]))
    if settings.engine == WHISPER and not settings.model.strip() and here:
        return replace(settings, model=str(next(iter(here.values()))))
    return settings


def why(settings: RecogniserSettings) -> str:
    """Why the recogniser is what it is; empty where the person chose it by name."""
    return choose(settings).reason if settings.engine == AUTO else ""


def fetched() -> dict[str, Path]:
    """The folders of the Whispers that were fetched whole, by their assets, the best first."""
    store = Store(data_folder() / "models")
    found = {name: store.whole(name) for name in TITLES}
    return {name: folder for name, folder in found.items() if folder is not None}
