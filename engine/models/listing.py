"""Everything that can be listened, thought or spoken with, as a host shows it, and what this
machine has for it.

Invariant: looks at names, sizes and small files only, so it is quick; servers are listed as they
were found before. What a model takes of the machine is an estimate to choose by, and said to be
one.
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
from engine.messages.models import ModelEntry, Origin, Presence
from engine.models.added import Added, added
from engine.models.servers import TITLES, Served
from engine.models.storage import default_store, size_on_disk, usable_path, with_needs
from engine.settings import Settings
from engine.settings_file import data_folder
from engine.systems import SYSTEMS, System
from engine.translatable import Translatable, joined, mark
from engine.tts import packs
from engine.tts import pick as speech
from engine.tts.voxtream.files import pick as voices
from engine.tts.voxtream.files.place import PUBLISHED

# Megabytes: share of the files that stays in memory, and what works beside it. Whisper base took
# 200 with its library; 4096 tokens of context of Qwen 3 take 470 to 600, by its layers; the voice
# by its parts.
_NEEDS = {
    "recogniser": (0.6, 110),
    "language model": (1.0, 650),
    "voice": (1.2, 500),
}
SYSTEM_SHARE = 0.25  # of the memory, for the system and what else runs
OWN_MB = 1_000  # the window and the parts that are always there
# A core reads so much of a language model in the time that a spoken word takes, about: more would
# answer more slowly than it speaks.
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
        """Whether this fits beside what is always there."""
        return memory_mb + OWN_MB <= self.memory_mb * (1 - SYSTEM_SHARE)

    def thinks_fast_with(self, megabytes: int) -> bool:
        """Whether a language model of this size should write as fast as it is spoken."""
        return megabytes <= MEGABYTES_A_CORE * self.cores


def this_machine() -> Machine:
    """As the operating system tells."""
    cores = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    return Machine(int(psutil.virtual_memory().total) // 1_000_000, cores)


def need_mb(kind: str, megabytes: int) -> int:
    """About what a model with files of this size takes while it runs; 0 where nobody knows."""
    if kind not in _NEEDS or not megabytes:
        return 0
    share, beside = _NEEDS[kind]
    return round(share * megabytes) + beside


RECOGNISER, LANGUAGE_MODEL, VOICE = "recogniser", "language model", "voice"
KINDS = (RECOGNISER, LANGUAGE_MODEL, VOICE)  # what is chosen; all others are parts of a voice
NATURAL = "kokoro"
_BUILT_IN = (
    (
        "sphinx",
        RECOGNISER,
        mark("Sphinx: knows the built-in skills' sentences, English only"),
        "MIT",
    ),
    (
        "skills",
        LANGUAGE_MODEL,
        mark("Built-in skills: no language model, certain answers"),
        "GPL-3.0",
    ),
    ("starter", VOICE, mark("Rubato's own voice: small and neural, learns voices"), "GPL-3.0"),
    ("espeak", VOICE, mark("eSpeak NG: a formant voice for weak machines"), "GPL-3.0"),
)


def entries(settings: Settings, served: Sequence[Served] = ()) -> tuple[ModelEntry, ...]:
    """All models, by kind: what comes with the program, what can be fetched, what was added, and
    the models of servers.
    """
    used, machine, store = _used(settings), this_machine(), default_store()
    found = [
        *(_built_in(*each, used) for each in _BUILT_IN),
        *_listed(store, machine, used),
        *(_of_paper(each, used) for each in SYSTEMS),
        *(_added(each, machine, used) for each in added(data_folder())),
        *(_served(each, used) for each in served),
    ]
    order = {kind: place for place, kind in enumerate(KINDS)}
    return tuple(sorted(found, key=lambda entry: order.get(entry.kind, len(order))))


def entry(name: str, settings: Settings, served: Sequence[Served] = ()) -> ModelEntry:
    """The model of this name. InvalidInput when there is none."""
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
    """What the settings name: names of engines, paths of models, and a model at an address."""

    names: frozenset[str]
    paths: frozenset[Path]
    served: tuple[str, str] | None  # address and model

    def has(self, name: str, path: Path) -> bool:
        return name in self.names or path in self.paths


def _used(settings: Settings) -> _Used:
    recogniser, mind = ears.resolve(settings.recogniser), settings.language_model
    voice = speech.resolve(settings.speech).engine
    names, paths, served = {recogniser.engine, voice}, set(), None
    if recogniser.engine == ears.WHISPER and recogniser.model.strip():
        paths.add(Path(recogniser.model).expanduser())
    if voice in catalogue():
        names |= {asset.name for asset in with_needs(voice)}
    match mind.engine:
        case "llama" if mind.model.strip():
            paths.add(Path(mind.model).expanduser())
        case "server":
            served = (mind.address.rstrip("/"), mind.model)
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


def _of_paper(system: System, used: _Used) -> ModelEntry:
    """A paper's system: it comes with the program, or was or can be made on this machine."""
    folder, own = packs.find(system.name), packs.folder_of(system.name)
    if folder and folder != own:
        title = Translatable("{name}, a voice of the papers", name=system.title)
        return _built_in(system.name, VOICE, title, "GPL-3.0", used)
    megabytes = size_on_disk(own) // 1_000_000 if folder else 0
    hours, command = f"{system.core_hours:g}", system.command
    making = Translatable("About {hours} core hours: {command}", hours=hours, command=command)
    return ModelEntry(
        system.name,
        Translatable("{name}, a voice made on this machine", name=system.title),
        VOICE,
        Origin.MADE,
        Presence.COMPLETE if folder else Presence.MISSING,
        megabytes=megabytes,
        megabytes_here=megabytes,
        licence="GPL-3.0",
        attribution=Translatable("trained here, from nothing that is fetched"),
        folder=str(own),
        in_use=system.name in used.names,
        obstacle="" if folder else making,
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


def _added(model: Added, machine: Machine, used: _Used) -> ModelEntry:
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
        obstacle=Translatable("It is no longer there.") if gone else _obstacle(model.kind),
    )


def _served(model: Served, used: _Used) -> ModelEntry:
    return ModelEntry(
        model.name,
        model.model,
        LANGUAGE_MODEL,
        Origin.SERVER,
        Presence.COMPLETE,
        megabytes=model.bytes // 1_000_000,
        megabytes_here=model.bytes // 1_000_000,
        attribution=Translatable("runs in {server} on this computer", server=TITLES[model.server]),
        folder=model.address,
        in_use=used.served == (model.address, model.model),
    )


def short(title: str) -> str:
    """The name in a title, without the description that follows it."""
    return title.split(":")[0].split(",")[0]


def _part_of(asset: Asset) -> str:
    """That another model needs it and fetches it; empty where it is a model by itself."""
    for whole in catalogue().values():
        if asset.name in whole.needs:
            return Translatable("A part of {name}, which brings it along.", name=short(whole.title))
    return ""


def _notices(asset: Asset) -> Iterator[str]:
    """What a person is to know before it is fetched."""
    if asset.readme_licence:
        yield Translatable(
            "Its authors name two licences: {card} on its card, {readme} in their README. Until"
            " they say which one holds, keep to the stricter.",
            card=asset.licence,
            readme=asset.readme_licence,
        )
    if not asset.names_a_commit:
        yield Translatable(
            "Its files were not at hand when this list was made: what is fetched first is pinned."
        )


def _obstacle(kind: str) -> str:
    """Why a model of this kind cannot be used now; that it is not fetched yet is no obstacle."""
    if kind != LANGUAGE_MODEL:
        return ""
    try:
        check_library()
    except ModelError:
        return Translatable(
            "It needs llama.cpp: run `make llm` in the program's folder, then start it again."
        )
    return ""


def _measured(asset: Asset) -> str:
    """The saved result of `rubato bench` for this model; "" if there is none."""
    found: speech.Pick | voices.Pick | None = None
    if asset.name in ears.TITLES:
        pick = ears.find_pick(data_folder())
        return pick.measurement_of(asset.name) if pick else ""
    if asset.name == speech.KOKORO:
        found = speech.find_pick(data_folder())
    elif asset.name in PUBLISHED:
        found = voices.last_pick(data_folder())
    return found.reason if found else ""
