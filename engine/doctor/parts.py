"""Checks of the parts of the loop: sound card, recogniser, language model, synthesiser.

The only connection is to the language-model server of the settings, if they name one.
"""

import asyncio
import importlib.util
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.assets import catalogue
from engine.assets.store import Store
from engine.doctor.finding import Finding, State, failed, fault, ok, warning
from engine.errors import EngineError
from engine.languages import ENGLISH, SPOKEN, of_system
from engine.settings import AUTO, LanguageModelSettings, Settings, SpeechSettings
from engine.settings_file import data_folder
from engine.systems import KOKORO, SYSTEMS, System

if TYPE_CHECKING:
    from engine.llm.servers.client import Client

SERVER_WAIT_S = 3.0
_NAMED_VOICES = 3
LLAMA_EXTRA = "Run `make llm`: it compiles llama.cpp, which takes minutes, once."


def sound(settings: Settings) -> Iterator[Finding]:
    from engine.audio.devices import portaudio

    try:
        devices = portaudio.devices()
    except EngineError as error:
        yield failed("sound", error)
        return
    yield _devices("microphone", devices.microphones, settings.audio.microphone)
    yield _devices("loudspeaker", devices.loudspeakers, settings.audio.loudspeaker)


def _devices(part: str, names: tuple[str, ...], chosen: str) -> Finding:
    if not names:
        return fault(
            part,
            f"No {part} was found.",
            "Connect one and see that the system's sound settings show it; "
            "without one use `rubato demo`.",
        )
    listed = ", ".join(names)
    if chosen and chosen not in names:
        return warning(
            part,
            f"The chosen '{chosen}' is not connected; the system default is used. There are: "
            + listed,
            f"Connect it, or choose another in the settings (audio.{part}).",
            chosen,
            *names,
        )
    return ok(part, f"{chosen or 'system default'}; there are: {listed}", chosen, *names)


def recordings(settings: Settings) -> Iterator[Finding]:
    """Report the limits for decoding recordings."""
    from engine.audio.clips import clip
    from engine.sandbox import child

    limits = f"at most {clip.LONGEST_S:.0f} s"
    if child.limits_memory():
        limits += f" and {child.MEMORY_BYTES >> 30} GB"
    else:
        limits += "; this system limits no process's memory"
    yield ok("recordings", f"decoded by a process of its own: {limits}")


def recogniser(settings: Settings) -> Iterator[Finding]:
    from engine.asr import pick

    chosen = pick.resolve(settings.recogniser)
    if chosen.engine == pick.WHISPER:
        from engine.asr.whisper.model import checked_folder  # imports no library of Whisper

        try:
            folder = checked_folder(chosen.model)
        except EngineError as error:
            yield failed("recogniser", error)
        else:
            text = f"whisper, model {folder}{_why(pick.why(settings.recogniser))}"
            yield ok("recogniser", text, str(folder))
        return
    import pocketsphinx

    model = Path(pocketsphinx.get_model_path("en-us"))
    if (model / "en-us").is_dir() or (model / "mdef").is_file():
        reason = _why(pick.why(settings.recogniser))
        yield ok("recogniser", f"sphinx with its bundled English model{reason}")
    else:
        text = f"sphinx lacks its model in {model}."
        yield fault("recogniser", text, "Run `make run`.", str(model))


def _why(reason: str) -> str:
    """Return the reason of an automatic choice as a clause; empty for a choice by name."""
    return f"; 'auto', for which `rubato bench` measures: {reason}" if reason else ""


def language_model(settings: Settings) -> Iterator[Finding]:
    chosen = settings.language_model
    match chosen.engine:
        case "llama":
            yield from _llama(chosen)
        case "server":
            yield from _server(chosen)
        case _:
            yield ok("language model", "skills, built in")
    if chosen.engine != "llama":
        there = "installed" if _has_llama() else "not installed (`make llm` adds them)"
        yield ok("language model", f"models inside the program (GGUF files): {there}")


def _has_llama() -> bool:
    return importlib.util.find_spec("llama_cpp") is not None


def _llama(chosen: LanguageModelSettings) -> Iterator[Finding]:
    if not _has_llama():
        yield fault("language model", "llama-cpp-python is not installed.", LLAMA_EXTRA)
    path = Path(chosen.model).expanduser()
    choose = "Choose a .gguf file in the settings (language_model.model)."
    if not chosen.model:
        yield fault("language model", "No model file is chosen.", choose)
    elif not path.is_file():
        yield fault("language model", f"{path} does not exist.", choose, str(path))
    elif not _is_gguf(path):
        yield fault("language model", f"{path} is not a GGUF file.", choose, str(path))
    else:
        text = f"{path.name}, {path.stat().st_size / 1e9:.2f} GB"
        yield ok("language model", text, path.name)


def _is_gguf(path: Path) -> bool:
    with path.open("rb") as model:
        return model.read(4) == b"GGUF"


def _server(chosen: LanguageModelSettings) -> Iterator[Finding]:
    part, variable = "language model", chosen.key_variable
    if variable and not os.environ.get(variable):
        yield warning(
            part,
            f"The environment variable {variable} is not set, so no key is sent.",
            f"Set {variable}, or empty language_model.key_variable.",
            variable,
        )
        chosen = replace(chosen, key_variable="")
    # Takes a tenth of a second, so only imported for a server.
    import httpx

    from engine.llm.servers.bounds import OutOfBounds
    from engine.llm.servers.client import Client, Refused
    from engine.llm.servers.faults import ServerFaults

    address = chosen.address.rstrip("/")
    try:
        client = Client(chosen)
        faults = ServerFaults(address, chosen.key_variable, client.proxy)
        try:
            asyncio.run(_list_models(client))
        except TimeoutError as error:
            raise faults.stalled(SERVER_WAIT_S) from error
        except OutOfBounds as error:
            raise faults.out_of_bounds() from error
        except (OSError, httpx.HTTPError) as error:
            raise faults.connection(error) from error
    except EngineError as error:
        yield failed(part, error)
    except Refused as refused:
        yield from _refusal(address, refused.status)
    else:
        yield ok(part, f"the server at {address} answers", address)


async def _list_models(client: "Client") -> None:
    try:
        async with asyncio.timeout(SERVER_WAIT_S):
            await client.models()
    finally:
        await client.close()


def _refusal(address: str, status: int) -> Iterator[Finding]:
    text = f"The server at {address} answers with status {status}."
    if status in (401, 403):
        advice = "It requires a key: name its environment variable in language_model.key_variable."
        yield fault("language model", text, advice, address)
    elif 300 <= status < 400:
        advice = "It redirects to another address, which is not followed: set that address."
        yield fault("language model", text, advice, address)
    else:
        advice = "Not every server lists its models; try a question."
        yield warning("language model", text, advice, address)


def synthesiser(settings: Settings) -> Iterator[Finding]:
    from engine.tts import pick
    from engine.tts.registry import NAMES  # loads none of them

    speech = settings.speech
    chosen = pick.resolve(speech)
    if chosen.engine not in NAMES:
        yield fault(
            "synthesiser",
            f"There is no synthesiser '{chosen.engine}'.",
            f"Set speech.engine to one of: {pick.AUTO}, {', '.join(NAMES)}.",
        )
    if speech.engine == pick.AUTO:
        yield ok("synthesiser", f"{chosen.engine}{_why(pick.why(speech))}")
    if chosen.engine in catalogue.catalogue():
        yield from _catalogue_model(chosen.engine)
    yield _starter(wanted=chosen.engine == pick.BUILT_IN)
    yield from (_paper_system(system, settings) for system in SYSTEMS)
    import espeakng_loader

    files = (espeakng_loader.get_library_path(), espeakng_loader.get_data_path())
    missing = [str(file) for file in files if not Path(file).exists()]
    if missing:
        text = "espeak lacks " + ", ".join(missing)
        yield fault("synthesiser", text, "Run `make run`.", *missing)
    else:
        yield ok("synthesiser", "espeak, built in: a formant voice that needs no model")


def _starter(*, wanted: bool) -> Finding:
    """Check the files of the built-in voice. It is not loaded, as that takes seconds."""
    from engine.tts import pick
    from engine.tts.voice_catalogue import of_settings

    try:
        known = of_settings(SpeechSettings(engine=pick.BUILT_IN))
    except EngineError as error:
        return failed("synthesiser", error, State.FAULT if wanted else State.WARNING)
    name, names = known.voice_model.rpartition(" ")[0], ", ".join(known.own)
    text = f"starter, built in: {name} with the voices {names}"
    return ok("synthesiser", text, name, names)  # a pack of the person's own goes before ours


def _paper_system(system: System, settings: Settings) -> Finding:
    """Report whether a paper's system has a pack; a missing one is a fault only if chosen."""
    from engine.tts import packs

    if folder := packs.find(system.name):
        if folder != packs.folder_of(system.name):
            return ok("synthesiser", f"{system.title}, built in")
        text = f"{system.title}, made on this machine in {folder}"
        return ok("synthesiser", text, str(folder))
    text = f"{system.title} is not made on this machine (about {system.core_hours:g} core hours)."
    if settings.speech.engine == system.name:
        return fault("synthesiser", text, f"Make it with: {system.command}", system.name)
    return ok("synthesiser", f"{text} Its command: {system.command}", system.name)


def _catalogue_model(name: str) -> Iterator[Finding]:
    """Check that a model of the catalogue and all its needs are complete."""
    from engine.tts.kokoro.voices import FILES, LANGUAGES

    asset, store = catalogue.find(name), Store(data_folder() / "models")
    wanted = (asset, *(catalogue.find(need) for need in asset.needs))
    lacking = {each.title: {file.path for file in store.missing(each)} for each in wanted}
    missing = set[str]().union(*lacking.values())
    if missing <= {f"voices/{FILES[voice]}.bin" for voice in LANGUAGES}:  # see languages()
        yield ok("synthesiser", f"{asset.title}, complete")
    else:
        titles = "; ".join(title for title, files in lacking.items() if files)
        advice = f"Fetch what is missing with: rubato models get {name}"
        yield fault("synthesiser", f"{name} lacks: {titles}.", advice)


def languages(settings: Settings) -> Iterator[Finding]:
    """Report the languages that voices speak, and why the user's language is not spoken or
    heard.
    """
    from engine.asr import pick as ears
    from engine.tts.voice_catalogue import usable

    try:
        known = usable(settings.speech)
    except EngineError:
        return  # synthesiser() reports it
    names = {
        code: [name for name in known.own if known.languages.get(name, ENGLISH) == code]
        for code in SPOKEN
    }
    spoken = ", ".join(f"{SPOKEN[code].title} ({_named(own)})" for code, own in names.items())
    part, chosen = "languages", settings.speech.language
    model = known.voice_model.partition(" ")[0]
    yield ok(part, f"spoken by {model}: {spoken}", model, *known.own)  # a pack may be the user's
    wanted = of_system() if chosen == AUTO else chosen
    lacking = [code for code, own in names.items() if not own]
    if wanted in lacking or (lacking and known.voice_model == KOKORO):
        text = f"No voice speaks {', '.join(SPOKEN[code].title for code in lacking)}."
        advice = "Choose Kokoro as speech.engine, and fetch it with: rubato models get kokoro"
        yield warning(part, text, advice)
    if wanted not in SPOKEN:
        text = f"No voice speaks '{wanted}', the system's language; an English one reads it."
        yield ok(part, text)
    if wanted != ENGLISH and ears.resolve(settings.recogniser).engine == ears.BUILT_IN:
        text = f"The recogniser hears English, but not '{wanted}'."
        yield warning(part, text, "Fetch Whisper with: rubato models get whisper-base")


def _named(voices: list[str]) -> str:
    """Name a few voices, and count many."""
    many = len(voices) > _NAMED_VOICES
    return f"{len(voices)} voices" if many else ", ".join(voices) or "no voice"
