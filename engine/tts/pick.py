"""The choice behind the synthesiser 'auto': the best fetched edition of VoXtream2 if a graphics
card runs it, Kokoro if it was fetched and is quick enough, else the built-in voice. Also the list
of synthesisers that make a voice from a recording, and the number of utterances that each can
speak at once, by its speed as `rubato bench` measured it.

Invariant: as in engine/asr/pick.py. Imports no synthesiser, and torch only where a card may be.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from engine import machine
from engine.assets.catalogue import size_with_needs
from engine.assets.store import Store
from engine.errors import ModelError
from engine.settings import SpeechSettings
from engine.settings.systems import KOKORO
from engine.settings_file import data_folder, read_pick, write_pick
from engine.translatable import Translatable
from engine.tts.kokoro.voices import is_fetched
from engine.tts.packs import not_fetched
from engine.tts.voxtream.files import pick as profiles
from engine.tts.voxtream.files.paths import PUBLISHED, VOXTREAM2, VOXTREAM2_1

AUTO: Final = "auto"
BUILT_IN: Final = "starter"
# The only place that decides which synthesisers make a voice of a recording. The packs that come
# with the program do not: the nearest of Kokoro's stock voices was nearer to 12, 17, 17 and 18 of
# 19 people than their clones by the built-in voice, SpeakStream, SMLLE and LLMVoX (judged by
# Resemblyzer), and the built-in voice lost 6 to 18 % of the words.
LEARNS: Final = KOKORO
_CLONES: Final = frozenset(PUBLISHED)
LARGEST_RTF: Final = 0.7  # of a whole session on one thread; the rest is for a busy machine
FILE: Final = "synthesiser.json"
SPEEDS_FILE: Final = "speeds.json"
MOST_PLACES: Final = 8
UNMEASURED_PLACES: Final = 2
CANNOT_CLONE: Final = Translatable(
    "The voice model that speaks now cannot learn a voice from a recording; Kokoro can."
)

ON_CARD: Final = Translatable("VoXtream2: a graphics card runs it.")
# Its rates and its loudness are estimates (voxtream/config.py), so it is not preferred unheard.
NEW_ON_CARD: Final = Translatable(
    "VoXtream2.1: a graphics card runs it. Its rates and loudness are estimates: compare it with "
    "Kokoro on the page of voices."
)
NEW_UNMEASURED: Final = Translatable(
    "Kokoro: VoXtream2.1 is not measured on the graphics card yet ({command}). Its rates and "
    "loudness are estimates: compare both on the page of voices.",
    command="rubato bench",
)
_ON_CARD: Final = {VOXTREAM2: ON_CARD, VOXTREAM2_1: NEW_ON_CARD}
NOT_FETCHED: Final = Translatable(
    "The built-in voice: Kokoro is not fetched ({command}).", command="rubato models get kokoro"
)
UNMEASURED: Final = Translatable(
    "Kokoro: it was fetched and is not measured yet ({command}).", command="rubato bench"
)


@dataclass(frozen=True)
class Pick:
    """The synthesiser that 'auto' stands for, and the reason in one or two sentences."""

    synthesiser: str
    reason: str


@dataclass(frozen=True)
class Speeds:
    """Synthesisers and their real-time factors: computing time over length of the sound."""

    rtfs: tuple[tuple[str, float], ...] = ()
    reason: str = ""


def can_clone(synthesiser: str) -> bool:
    """Return True if a synthesiser makes voices from recordings."""
    return synthesiser == LEARNS or synthesiser in _CLONES


def learner_mb() -> int:
    """Return the megabytes to fetch before Kokoro can make a voice from a recording; 0 = none."""
    return 0 if is_fetched() else size_with_needs(LEARNS)


def cannot_clone() -> ModelError:
    """Return the error for a synthesiser that does not make voices from recordings."""
    if not is_fetched():
        return ModelError(CANNOT_CLONE, hint=not_fetched("Kokoro", LEARNS).hint)
    return ModelError(CANNOT_CLONE, hint="Choose Kokoro as the synthesiser.")


def judge(rtf: float) -> Pick:
    """Choose between Kokoro and the built-in voice by Kokoro's real-time factor."""
    if rtf <= LARGEST_RTF:
        reason = Translatable(
            "Kokoro: this machine computes a second of speech in {share} s.",
            share=f"{rtf:.2f}",
        )
        return Pick(KOKORO, reason)
    reason = Translatable(
        "The built-in voice: Kokoro needs {share} s for a second of speech, more than {limit} s.",
        share=f"{rtf:.2f}",
        limit=f"{LARGEST_RTF:.1f}",
    )
    return Pick(BUILT_IN, reason)


def keep(pick: Pick, folder: Path) -> None:
    """Write the pick into the data folder. SettingsError when it cannot be written."""
    write_pick(pick, folder / FILE, what="synthesiser", setting="speech.engine")


def find_pick(folder: Path) -> Pick | None:
    """Return the choice of the last measurement of Kokoro on this machine; None without one."""
    pick = read_pick(Pick, folder / FILE)
    return pick if pick is not None and pick.synthesiser in (BUILT_IN, KOKORO) else None


def keep_speeds(rtfs: Mapping[str, float], folder: Path) -> None:
    """Add measurements. SettingsError when they cannot be written."""
    speeds = Speeds(tuple({**_speeds(folder), **rtfs}.items()))
    write_pick(speeds, folder / SPEEDS_FILE, what="places", setting="serve.places")


def places(name: str, folder: Path) -> int:
    """Return the number of utterances to speak at once, so that together they compute for at most
    LARGEST_RTF of the time.
    """
    rtf = _speeds(folder).get(name, 0.0)
    return min(max(1, int(LARGEST_RTF / rtf)), MOST_PLACES) if rtf > 0 else UNMEASURED_PLACES


def _speeds(folder: Path) -> dict[str, float]:
    speeds = read_pick(Speeds, folder / SPEEDS_FILE)
    return {} if speeds is None else dict(speeds.rtfs)


def choose(settings: SpeechSettings) -> Pick:
    """Choose the synthesiser 'auto' for the device of these settings."""
    if edition := _on_card(settings.device):
        if edition == VOXTREAM2_1 and is_fetched() and _measured_on_card() is None:
            return Pick(KOKORO, NEW_UNMEASURED)
        return Pick(edition, _ON_CARD[edition])
    if not is_fetched():
        return Pick(BUILT_IN, NOT_FETCHED)
    return find_pick(data_folder()) or Pick(KOKORO, UNMEASURED)


def resolve(settings: SpeechSettings) -> SpeechSettings:
    """Replace 'auto' in the settings by the synthesiser that it stands for."""
    if settings.engine != AUTO:
        return settings
    return replace(settings, engine=choose(settings).synthesiser)


def why(settings: SpeechSettings) -> str:
    """Return the reason for the synthesiser; empty if the person chose it by name."""
    return choose(settings).reason if settings.engine == AUTO else ""


def _on_card(device: str) -> str:
    """Return the best fetched edition of VoXtream2 if a graphics card runs it (quickly enough, if
    that was measured); else "".
    """
    store = Store(data_folder() / "models")
    fetched = next((name for name in PUBLISHED if store.complete_folder(name) is not None), "")
    if device == "cpu" or not fetched:
        return ""
    measured = _measured_on_card()
    if measured is not None and not measured.profile:
        return ""
    return fetched if machine.has_usable_card() else ""


def _measured_on_card() -> profiles.Pick | None:
    """Return the result of `rubato bench` for VoXtream2 on the graphics card; None without one."""
    measured = profiles.last_pick(data_folder())
    return measured if measured is not None and measured.device == "cuda" else None
