"""The recommended set for this machine: a recogniser, a language model and a voice.

Invariant: measurements have priority over estimates; no recommended model exceeds the memory of
this machine.
"""

from collections.abc import Sequence

from engine.asr import pick as ears
from engine.assets.catalogue import find
from engine.messages.models import ModelEntry, ModelKind, Origin, Presence, Recommendation
from engine.models.listing import Machine, entries, short, this_machine
from engine.models.storage import with_needs
from engine.settings import Settings
from engine.settings.systems import KOKORO
from engine.settings_file import data_folder
from engine.translatable import Translatable, joined, mark
from engine.tts.voxtream.files import pick as voices
from engine.tts.voxtream.files.paths import PUBLISHED

# The function of each kind of model, beside the name and the size of the download.
_DOES: dict[str, str] = {
    ModelKind.RECOGNISER: mark("{name} listens ({size})"),
    ModelKind.LANGUAGE_MODEL: mark("{name} thinks ({size})"),
    ModelKind.VOICE: mark("{name} speaks ({size})"),
}
_STAYS: dict[str, str] = {
    ModelKind.RECOGNISER: mark("the built-in recogniser stays"),
    ModelKind.LANGUAGE_MODEL: mark("the built-in language model stays"),
    ModelKind.VOICE: mark("the built-in voice stays"),
}


def recommendation(entries: Sequence[ModelEntry], machine: Machine) -> Recommendation:
    """Recommend models that can be fetched; for a kind without one, name the built-in one."""
    listed = [each for each in entries if each.origin is Origin.LISTED and each.fits]
    found = _recogniser(listed), _language_model(listed, machine), _voice(listed)
    chosen = [each for each in found if each]
    known = {each.name: each for each in entries}
    missing = [
        asset
        for each in chosen
        for asset in with_needs(each.name)
        if known[asset.name].state is not Presence.COMPLETE
    ]
    here = [each for each in chosen if each.state is Presence.COMPLETE]
    new = [each for each in chosen if each not in here]
    kinds = {each.kind for each in chosen}
    stays = [Translatable(text) for kind, text in _STAYS.items() if kind not in kinds]
    obstacles = [
        Translatable("{name}: {warning}", name=short(each.title), warning=warning)
        for each in chosen
        for warning in (each.obstacle, each.notice if each in new else "")
        if warning
    ]
    return Recommendation(
        tuple(each.name for each in chosen),
        sum(asset.megabytes for asset in missing),
        Translatable(
            "{parts}.",
            parts=joined([*(_words(each, each in here) for each in chosen), *stays], "; "),
        ),
        joined(obstacles),
        in_use=all(each.in_use for each in chosen),
    )


def recommended(settings: Settings) -> tuple[ModelEntry, ...]:
    """Return the models recommended for this machine, fetched or not."""
    found = entries(settings)
    names = recommendation(found, this_machine()).names
    return tuple(each for each in found if each.name in names)


def _recogniser(listed: Sequence[ModelEntry]) -> ModelEntry | None:
    pick = ears.find_pick(data_folder())
    if pick is not None and pick.recogniser == ears.BUILT_IN:
        return None
    return next((each for each in listed if each.name == ears.ASSET), None)


def _language_model(listed: Sequence[ModelEntry], machine: Machine) -> ModelEntry | None:
    """Return the largest that should write as fast as it is spoken, otherwise the smallest."""
    language_models = [
        each
        for each in listed
        if each.kind == ModelKind.LANGUAGE_MODEL and not find(each.name).superseded
    ]
    quick = [each for each in language_models if machine.thinks_fast_with(each.megabytes)]
    by_size = sorted(quick or language_models, key=lambda each: each.megabytes, reverse=bool(quick))
    return by_size[0] if by_size else None


def _voice(listed: Sequence[ModelEntry]) -> ModelEntry | None:
    """Return the full-size voice if `rubato bench` found it quick enough, otherwise Kokoro."""
    pick = voices.last_pick(data_folder())
    names = (*PUBLISHED, KOKORO) if pick is not None and pick.profile else (KOKORO,)
    return next((each for name in names for each in listed if each.name == name), None)


def _words(each: ModelEntry, is_here: bool) -> str:
    megabytes = sum(asset.megabytes for asset in with_needs(each.name))
    size = Translatable("{size} MB", size=megabytes)  # as on the page of models
    if is_here:
        size = Translatable("already here")
    elif megabytes >= 1000:
        size = Translatable("{size} GB", size=f"{megabytes / 1000:.1f}")
    return Translatable(_DOES[each.kind], name=short(each.title), size=size)
