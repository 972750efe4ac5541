"""The list of all recognisers, language models and voices for a host, and their fit to this
machine.

Only reads names, sizes and small files, so it is quick; servers' models are passed in. Memory needs
are estimates, and labelled so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from engine.asr import pick as ears
from engine.assets.catalogue import Asset, catalogue
from engine.assets.store import Store
from engine.errors import InvalidInput, ModelError
from engine.llm.local.gguf import check_library
from engine.messages.models import ModelEntry, ModelKind, Origin, Presence
from engine.models.servers import TITLES, ServedModel
from engine.models.storage import (
    AddedModel,
    added,
    default_store,
    size_on_disk,
    usable_path,
    with_needs,
)
from engine.settings import Settings
from engine.settings.systems import ESPEAK, KOKORO, STARTER, SYSTEMS, System
from engine.settings_file import data_folder
from engine.translatable import Translatable, joined, mark
from engine.tts import packs
from engine.tts import pick as speech
from engine.tts.voxtream.files import pick as voices
from engine.tts.voxtream.files.paths import PUBLISHED

# By kind: share of the files that stays in memory, and megabytes for the code around it. Whisper
# base took 200 with its library; 4096 tokens of context of Qwen 3 take 470 to 600, by its layers;
# the voice by its parts.
_NEEDS: dict[str, tuple[float, int]] = {
    ModelKind.RECOGNISER: (0.6, 110),
    ModelKind.LANGUAGE_MODEL: (1.0, 650),
    ModelKind.VOICE: (1.2, 500),
}
SYSTEM_SHARE = 0.25  # of the memory, for the system and other programs
OWN_MB = 1_000  # the window and the parts that are always loaded
# Roughly how much of a language model one core reads in the time of a spoken word; a larger model
# writes more slowly than it is spoken.
MEGABYTES_A_CORE = 650


@dataclass(frozen=True)
class Machine:
    """Memory in megabytes (of 10**6 bytes), and physical cores."""

    memory_mb: int
    cores: int

    def __str__(self) -> str:
        memory = f"{self.memory_mb / 1000:.0f}"
        return Translatable("{memory} GB of memory, {cores} cores", memory=memory, cores=self.cores)

    def has_memory_for(self, memory_mb: int) -> bool:
        """Return whether this fits beside the parts that are always loaded."""
        return memory_mb + OWN_MB <= self.memory_mb * (1 - SYSTEM_SHARE)

    def thinks_fast_with(self, megabytes: int) -> bool:
        """Return whether a language model of this size should write as fast as it is spoken."""
        return megabytes <= MEGABYTES_A_CORE * self.cores


def this_machine() -> Machine:
    """Return the operating system's figures."""
    cores = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    return Machine(int(psutil.virtual_memory().total) // 1_000_000, cores)


def need_mb(kind: str, megabytes: int) -> int:
    """Return the approximate memory of a running model with files of this size; 0 if unknown."""
    if kind not in _NEEDS or not megabytes:
        return 0
    share, beside = _NEEDS[kind]
    return round(share * megabytes) + beside


_BUILT_IN = (
    (
        "sphinx",
        ModelKind.RECOGNISER,
        mark("Sphinx: knows the built-in skills' sentences, English only"),
        "MIT",
    ),
    (
        "skills",
        ModelKind.LANGUAGE_MODEL,
        mark("Built-in skills: no language model, reliable answers"),
        "GPL-3.0",
    ),
    (STARTER, ModelKind.VOICE, mark("Rubato's own voice: small and neural"), "GPL-3.0"),
    (ESPEAK, ModelKind.VOICE, mark("eSpeak NG: a formant voice for weak machines"), "GPL-3.0"),
)
_GONE = Translatable("Its file or folder no longer exists.")


def entries(settings: Settings, served: Sequence[ServedModel] = ()) -> tuple[ModelEntry, ...]:
    """Return all models by kind: built-in, listed, added, and on servers."""
    used, machine, store = _used(settings), this_machine(), default_store()
    found = [
        *(_built_in(*each, used) for each in _BUILT_IN),
        *_listed(store, machine, used),
        *(_paper_system(each, used) for each in SYSTEMS),
        *(_added(each, machine, used) for each in added(data_folder())),
        *(_served(each, used) for each in served),
    ]
    order: dict[str, int] = {kind: place for place, kind in enumerate(ModelKind)}
    return tuple(sorted(found, key=lambda entry: order.get(entry.kind, len(order))))


def entry(name: str, settings: Settings, served: Sequence[ServedModel] = ()) -> ModelEntry:
    """Return the model of this name. InvalidInput for an unknown name."""
    for each in entries(settings, served):
        if each.name == name:
            return each
    raise InvalidInput(
        "There is no model called '{name}'.",
        hint="{command} names them all.",
        name=name[:200],
        command="rubato models list",
    )


@dataclass(frozen=True)
class _Used:
    """Models of the settings: names of engines, paths, and a model at an address."""

    names: frozenset[str]
    paths: frozenset[Path]
    served: tuple[str, str] | None  # address and model

    def has(self, name: str, path: Path) -> bool:
        return name in self.names or path in self.paths


def _used(settings: Settings) -> _Used:
    recogniser, language_model = ears.resolve(settings.recogniser), settings.language_model
    voice = speech.resolve(settings.speech).engine
    names, paths, served = {recogniser.engine, voice}, set(), None
    if recogniser.engine == ears.WHISPER and recogniser.model.strip():
        paths.add(Path(recogniser.model).expanduser())
    if voice in catalogue():
        names |= {asset.name for asset in with_needs(voice)}
    match language_model.engine:
        case "llama" if language_model.model.strip():
            paths.add(Path(language_model.model).expanduser())
        case "server":
            served = (language_model.address.rstrip("/"), language_model.model)
        case engine:
            names.add(engine)
    return _Used(frozenset(names), frozenset(paths), served)


def _built_in(name: str, kind: str, title: str, licence: str, used: _Used) -> ModelEntry:
    return ModelEntry(
        name,
        Translatable(title),
        kind,
        Origin.BUILT_IN,
        Presence.COMPLETE,
        licence=licence,
        attribution=Translatable("comes with the program"),
        in_use=name in used.names,
    )


def _paper_system(system: System, used: _Used) -> ModelEntry:
    """Return a paper's system: part of the program, or made or makeable on this machine."""
    folder, own = packs.find(system.name), packs.folder_of(system.name)
    if folder and folder != own:
        title = Translatable("{name}, a voice from a research paper", name=system.title)
        return _built_in(system.name, ModelKind.VOICE, title, "GPL-3.0", used)
    megabytes = size_on_disk(own) // 1_000_000 if folder else 0
    hours, command = f"{system.core_hours:g}", system.command
    instructions = Translatable("About {hours} core hours: {command}", hours=hours, command=command)
    return ModelEntry(
        system.name,
        Translatable("{name}, a voice made on this machine", name=system.title),
        ModelKind.VOICE,
        Origin.MADE,
        Presence.COMPLETE if folder else Presence.MISSING,
        megabytes=megabytes,
        megabytes_here=megabytes,
        licence="GPL-3.0",
        attribution=Translatable("trained here, from nothing that is fetched"),
        folder=str(own),
        in_use=system.name in used.names,
        obstacle="" if folder else instructions,
    )


def _listed(store: Store, machine: Machine, used: _Used) -> Iterator[ModelEntry]:
    for asset in catalogue().values():
        state = Presence(store.state(asset).value)
        if asset.superseded and state is Presence.MISSING:
            continue
        whole = with_needs(asset.name)
        megabytes = sum(each.megabytes for each in whole)
        memory_mb = need_mb(asset.kind, megabytes)
        yield ModelEntry(
            asset.name,
            Translatable(asset.title),
            asset.kind,
            Origin.LISTED,
            state,
            megabytes=megabytes,
            megabytes_here=sum(store.bytes_here(each) for each in whole) // 1_000_000,
            memory_mb=memory_mb,
            fits=machine.has_memory_for(memory_mb),
            licence=asset.terms,
            attribution=Translatable(asset.attribution),
            folder=str(store.path(asset)),
            measured=_measured(asset),
            in_use=used.has(asset.name, usable_path(asset, store)),
            obstacle=_part_of(asset) or _obstacle(asset.kind),
            notice=joined(_notices(asset)),
        )


def _added(model: AddedModel, machine: Machine, used: _Used) -> ModelEntry:
    path = Path(model.path)
    megabytes = size_on_disk(path) // 1_000_000
    memory_mb = need_mb(model.kind, megabytes)
    gone = not path.exists()
    return ModelEntry(
        model.path,
        path.name,
        model.kind,
        Origin.ADDED,
        Presence.MISSING if gone else Presence.COMPLETE,
        megabytes=megabytes,
        megabytes_here=megabytes,
        memory_mb=memory_mb,
        fits=machine.has_memory_for(memory_mb),
        attribution=Translatable("added by you"),
        folder=model.path,
        in_use=path in used.paths,
        obstacle=_GONE if gone else _obstacle(model.kind),
    )


def _served(model: ServedModel, used: _Used) -> ModelEntry:
    return ModelEntry(
        model.name,
        model.model,
        ModelKind.LANGUAGE_MODEL,
        Origin.SERVER,
        Presence.COMPLETE,
        megabytes=model.bytes // 1_000_000,
        megabytes_here=model.bytes // 1_000_000,
        attribution=Translatable("runs in {server} on this computer", server=TITLES[model.server]),
        folder=model.address,
        in_use=used.served == (model.address, model.model),
    )


def short(title: str) -> str:
    """Return the name in a title, without its description."""
    return title.split(":")[0].split(",")[0]


def _part_of(asset: Asset) -> str:
    """Return the note that another model needs and fetches it; empty for a model of its own."""
    for whole in catalogue().values():
        if asset.name in whole.needs:
            return Translatable(
                "A part of {name}, which is fetched with it.", name=short(whole.title)
            )
    return ""


def _notices(asset: Asset) -> Iterator[str]:
    """Yield notices to show before a fetch."""
    if asset.readme_licence:
        yield Translatable(
            "Its authors name two licences: {card} on its card, {readme} in their README. Until"
            " they say which one holds, keep to the stricter.",
            card=asset.licence,
            readme=asset.readme_licence,
        )
    if not asset.names_a_commit:
        yield Translatable(
            "Its files were unknown when this list was made: the first download is pinned."
        )


def _obstacle(kind: str) -> str:
    """Return why models of this kind cannot be used now; a missing download is not an obstacle."""
    if kind != ModelKind.LANGUAGE_MODEL:
        return ""
    try:
        check_library()
    except ModelError:
        return Translatable(
            "It needs llama.cpp: run `make llm` in the program's folder, then start it again."
        )
    return ""


def _measured(asset: Asset) -> str:
    """Return the saved result of `rubato bench` for this model; "" if there is none."""
    found: speech.Pick | voices.Pick | None = None
    if asset.name in ears.TITLES:
        pick = ears.find_pick(data_folder())
        return pick.measurement_of(asset.name) if pick else ""
    if asset.name == KOKORO:
        found = speech.find_pick(data_folder())
    elif asset.name in PUBLISHED:
        found = voices.last_pick(data_folder())
    return found.reason if found else ""
