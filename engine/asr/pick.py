"""Choose the recogniser for the setting 'auto': the best fetched Whisper that is quick enough on
this machine, otherwise the built-in recogniser. Load the recogniser that the settings name.

A damaged measurement file counts as missing. A fetched model is used until it has been measured.
Only load() imports a recogniser, and only the one it loads.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from engine.asr.base import Recogniser
from engine.assets.store import Store
from engine.errors import InvalidInput, ModelError
from engine.languages import ENGLISH, of_system
from engine.settings import AUTO as AUTO
from engine.settings import OF_SYSTEM, RecogniserSettings
from engine.settings_file import data_folder, read_pick, write_pick
from engine.translatable import Translatable, joined

BUILT_IN: Final = "sphinx"  # needs no download
WHISPER: Final = "whisper"
ASSET: Final = "whisper-base"
TINY: Final = "whisper-tiny"
TITLES: Final = {ASSET: "Whisper base", TINY: "Whisper tiny"}  # fewest wrong words first
SPHINX_LANGUAGES: Final = ("", OF_SYSTEM, AUTO, ENGLISH)
# From the end of speech to its transcript. Accuracy is worth the wait: Whisper base gets 11 % of
# the words wrong, the built-in recogniser a third.
SLOWEST_MS: Final = 2000.0
FILE: Final = "recogniser.json"

NOT_FETCHED: Final = Translatable(
    "Whisper is not fetched ({command}).", command="rubato models get whisper-base"
)
UNMEASURED: Final = Translatable(
    "Whisper was fetched and is not measured yet ({command}).", command="rubato bench"
)
ENGLISH_ONLY: Final = Translatable("The built-in recogniser understands English only.")

NAMES = ("sphinx", "whisper")  # and 'auto', which resolves to one of them


@dataclass(frozen=True)
class Pick:
    """The choice for 'auto' (the built-in recogniser, or the asset of a Whisper model) and its
    reason in one or two sentences. `slow` lists the Whisper models that were measured as too slow.
    """

    recogniser: str
    reason: str
    slow: tuple[str, ...] = ()

    def measurement_of(self, asset: str) -> str:
        """Return the sentence about one Whisper model; empty if it was not measured."""
        reason = self.reason
        sentences = reason.values.values() if isinstance(reason, Translatable) else ()
        for sentence in sentences:
            if isinstance(sentence, Translatable) and sentence.values["name"] == TITLES[asset]:
                return sentence
        return ""


def judge(base_ms: float | None, tiny_ms: float | None = None) -> Pick:
    """Choose by the times from the end of speech to the transcript; None = not measured."""
    times = {ASSET: base_ms, TINY: tiny_ms}
    took = {name: ms for name, ms in times.items() if ms is not None}
    slow = tuple(name for name, ms in took.items() if ms > SLOWEST_MS)
    quick = next((name for name in took if name not in slow), BUILT_IN)
    return Pick(quick, joined(_reason(name, ms) for name, ms in took.items()), slow)


def _reason(name: str, ms: float) -> Translatable:
    return Translatable(
        "{name} has the text {seconds} s after the end of a sentence."
        if ms <= SLOWEST_MS
        else "{name} has the text {seconds} s after the end of a sentence, more than {limit} s.",
        name=TITLES[name],
        seconds=f"{ms / 1000:.1f}",
        limit=f"{SLOWEST_MS / 1000:.1f}",
    )


def keep(pick: Pick, folder: Path) -> None:
    """Write the pick to the data folder. SettingsError if it cannot be written."""
    write_pick(pick, folder / FILE, what="recogniser", setting="recogniser.engine")


def find_pick(folder: Path) -> Pick | None:
    """Return the pick that the measurements on this machine gave; None if there are none."""
    return read_pick(Pick, folder / FILE)


def check_language(language: str) -> None:
    """ModelError if the built-in recogniser does not support this language."""
    if language not in SPHINX_LANGUAGES:
        raise ModelError(
            "The built-in recogniser understands English only, not '{language}'.",
            hint="Choose English, or the recogniser 'whisper' with a multilingual model.",
            language=language,
        )


def choose(settings: RecogniserSettings) -> Pick:
    """Return the choice for 'auto' on this machine for the language of these settings."""
    here, measured = fetched(), find_pick(data_folder())
    if not here:
        return Pick(BUILT_IN, NOT_FETCHED)
    if settings.language not in SPHINX_LANGUAGES:
        return Pick(next(iter(here)), ENGLISH_ONLY)  # slow recognition is better than none
    known = measured or Pick(BUILT_IN, UNMEASURED)
    quick = next((name for name in here if name not in known.slow), BUILT_IN)
    return replace(known, recogniser=quick)


def resolve(settings: RecogniserSettings) -> RecogniserSettings:
    """Replace 'auto' by the choice for this machine, fill in the best fetched folder for a Whisper
    without one, and let it detect the language where the system speaks another than English.
    """
    here = fetched()
    if settings.language == OF_SYSTEM:
        settings = replace(settings, language=ENGLISH if of_system() == ENGLISH else AUTO)
    if settings.engine == AUTO:
        name = choose(settings).recogniser
        if name == BUILT_IN:
            return replace(settings, engine=BUILT_IN, model="")
        return replace(settings, engine=WHISPER, model=str(here[name]))
    if settings.engine == WHISPER and not settings.model.strip() and here:
        return replace(settings, model=str(next(iter(here.values()))))
    return settings


def why(settings: RecogniserSettings) -> str:
    """Return the reason of the automatic choice; empty if the user chose by name."""
    return choose(settings).reason if settings.engine == AUTO else ""


def fetched() -> dict[str, Path]:
    """Return the folders of the completely fetched Whisper models by asset, the best first."""
    store = Store(data_folder() / "models")
    found = {name: store.complete_folder(name) for name in TITLES}
    return {name: folder for name, folder in found.items() if folder is not None}


def load(settings: RecogniserSettings, phrases: Sequence[str]) -> Recogniser:
    """Load the recogniser of `settings.engine`. Whisper takes seconds, so never call this on the
    window's thread.

    `phrases` are sentences of the built-in skills as spoken (lower case, numbers in words); sphinx
    gives them priority. InvalidInput for an unknown name, ModelError for a broken model.
    """
    settings = resolve(settings)
    match settings.engine:
        case "sphinx":
            # pocketsphinx imports its model, so import it only when it is used.
            from engine.asr.sphinx.recogniser import SphinxRecogniser

            check_language(settings.language)
            return SphinxRecogniser(phrases)
        case "whisper":
            # faster-whisper imports ctranslate2, onnxruntime and PyAV: 1.2 s and 54 MB.
            from engine.asr.pair import PairedRecogniser
            from engine.asr.sphinx.recogniser import SphinxRecogniser
            from engine.asr.whisper.recogniser import load_whisper

            whisper, sphinx = load_whisper(settings), SphinxRecogniser(phrases, any_english=False)
            return PairedRecogniser(whisper, sphinx, settings.language)
    raise InvalidInput(
        "There is no recogniser called '{name}'.",
        hint="Choose one of: {names}.",
        name=settings.engine,
        names=f"auto, {', '.join(NAMES)}",
    )
