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
from engine.doctor.finding import Finding, State, failed, fault, ok, warning
from engine.errors import EngineError
from engine.languages import ENGLISH, SPOKEN, of_system
from engine.models.storage import default_store
from engine.settings import AUTO, LanguageModelSettings, Settings, SpeechSettings
from engine.settings.systems import KOKORO, SYSTEMS, System

if TYPE_CHECKING:
    from engine.llm.servers.client import Client

SERVER_WAIT_S = 3.0
_NAMED_VOICES = 3
_MODEL, _VOICE = "language model", "synthesiser"


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
    listed = "there are: " + ", ".join(names)
    if not names:
        advice = "Connect one and see that the system's sound settings show it; "
        return fault(part, f"No {part} was found.", advice + "without one use `rubato demo`.")
    if chosen and chosen not in names:
        text = f"The chosen '{chosen}' is not connected; the system default is used; {listed}"
        advice = f"Connect it, or choose another in the settings (audio.{part})."
        return warning(part, text, advice, chosen, *names)
    return ok(part, f"{chosen or 'system default'}; {listed}", chosen, *names)


def recogniser(settings: Settings) -> Iterator[Finding]:
    from engine.asr import pick

    chosen = pick.resolve(settings.recogniser)
    why = _why(pick.why(settings.recogniser))
    if chosen.engine == pick.WHISPER:
        from engine.asr.whisper.model import checked_folder  # imports no library of Whisper

        try:
            folder = str(checked_folder(chosen.model))
            yield ok("recogniser", f"whisper, model {folder}{why}", folder)
        except EngineError as error:
            yield failed("recogniser", error)
        return
    import pocketsphinx

    model = Path(pocketsphinx.get_model_path("en-us"))
    if (model / "en-us").is_dir() or (model / "mdef").is_file():
        yield ok("recogniser", f"sphinx with its bundled English model{why}")
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
            return
        case "server":
            yield from _server(chosen)
        case _:
            yield ok(_MODEL, "skills, built in")
    there = "installed" if _has_llama() else "not installed (`make llm` adds them)"
    yield ok(_MODEL, f"models inside the program (GGUF files): {there}")


def _has_llama() -> bool:
    return importlib.util.find_spec("llama_cpp") is not None


def _llama(chosen: LanguageModelSettings) -> Iterator[Finding]:
    if not _has_llama():
        advice = "Run `make llm`: it compiles llama.cpp, which takes minutes, once."
        yield fault(_MODEL, "llama-cpp-python is not installed.", advice)
    path = Path(chosen.model).expanduser()
    choose = "Choose a .gguf file in the settings (language_model.model)."
    if not chosen.model:
        yield fault(_MODEL, "No model file is chosen.", choose)
    elif not path.is_file():
        yield fault(_MODEL, f"{path} does not exist.", choose, str(path))
    else:
        with path.open("rb") as model:
            is_gguf = model.read(4) == b"GGUF"
        if is_gguf:
            yield ok(_MODEL, f"{path.name}, {path.stat().st_size / 1e9:.2f} GB", path.name)
        else:
            yield fault(_MODEL, f"{path} is not a GGUF file.", choose, str(path))


def _server(chosen: LanguageModelSettings) -> Iterator[Finding]:
    from engine.llm.servers.client import Client  # takes a tenth of a second

    variable = chosen.key_variable
    if variable and not os.environ.get(variable):
        text = f"The environment variable {variable} is not set, so no key is sent."
        advice = f"Set {variable}, or empty language_model.key_variable."
        yield warning(_MODEL, text, advice, variable)
        chosen = replace(chosen, key_variable="")
    try:
        yield _answer(Client(chosen), chosen)
    except EngineError as error:
        yield failed(_MODEL, error)


def _answer(client: "Client", chosen: LanguageModelSettings) -> Finding:
    """Ask a server for its models. LanguageModelError if it does not answer."""
    import httpx

    from engine.llm.servers.client import OutOfBounds, Refused
    from engine.llm.servers.faults import ServerFaults

    address = chosen.address.rstrip("/")
    faults = ServerFaults(address, chosen.key_variable, client.proxy)
    try:
        asyncio.run(_list_models(client))
    except TimeoutError as error:
        raise faults.stalled(SERVER_WAIT_S) from error
    except OutOfBounds as error:
        raise faults.out_of_bounds() from error
    except (OSError, httpx.HTTPError) as error:
        raise faults.connection(error) from error
    except Refused as refused:
        if refused.status < 404:  # no access, or another address
            raise faults.status(refused, chosen.model) from refused
        text = f"The server at {address} answers with status {refused.status}."
        advice = "Not every server lists its models; try a question."
        return warning(_MODEL, text, advice, address)
    return ok(_MODEL, f"the server at {address} answers", address)


async def _list_models(client: "Client") -> None:
    try:
        async with asyncio.timeout(SERVER_WAIT_S):
            await client.models()
    finally:
        await client.close()


def synthesiser(settings: Settings) -> Iterator[Finding]:
    from engine.tts import pick
    from engine.tts.registry import NAMES  # loads none of them

    speech = settings.speech
    chosen = pick.resolve(speech).engine
    if chosen not in NAMES:
        advice = f"Set speech.engine to one of: {pick.AUTO}, {', '.join(NAMES)}."
        yield fault(_VOICE, f"There is no synthesiser '{chosen}'.", advice)
    if speech.engine == pick.AUTO:
        yield ok(_VOICE, f"{chosen}{_why(pick.why(speech))}")
    if chosen in catalogue.catalogue():
        yield _catalogue_model(chosen)
    yield _starter(wanted=chosen == pick.BUILT_IN)
    yield from (_paper_system(system, settings) for system in SYSTEMS)
    import espeakng_loader

    files = (espeakng_loader.get_library_path(), espeakng_loader.get_data_path())
    if missing := [str(file) for file in files if not Path(file).exists()]:
        yield fault(_VOICE, "espeak lacks " + ", ".join(missing), "Run `make run`.", *missing)
    else:
        yield ok(_VOICE, "espeak, built in: a formant voice that needs no model")


def _starter(*, wanted: bool) -> Finding:
    """Check the files of the built-in voice. It is not loaded, as that takes seconds."""
    from engine.tts import pick
    from engine.tts.registry import of_settings

    try:
        known = of_settings(SpeechSettings(engine=pick.BUILT_IN))
    except EngineError as error:
        return failed(_VOICE, error, State.FAULT if wanted else State.WARNING)
    name, names = known.voice_model.rpartition(" ")[0], ", ".join(known.own)
    # private, as a pack of the person's own goes before ours
    return ok(_VOICE, f"starter, built in: {name} with the voices {names}", name, names)


def _paper_system(system: System, settings: Settings) -> Finding:
    """Report whether a paper's system has a pack; a missing one is a fault only if chosen."""
    from engine.tts import packs

    if folder := packs.find(system.name):
        if folder != packs.folder_of(system.name):
            return ok(_VOICE, f"{system.title}, built in")
        return ok(_VOICE, f"{system.title}, made on this machine in {folder}", str(folder))
    text = f"{system.title} is not made on this machine (about {system.core_hours:g} core hours)."
    if settings.speech.engine == system.name:
        return fault(_VOICE, text, f"Make it with: {system.command}", system.name)
    return ok(_VOICE, f"{text} Its command: {system.command}", system.name)


def _catalogue_model(name: str) -> Finding:
    """Check that a model of the catalogue and all its needs are complete."""
    store, wanted = default_store(), catalogue.with_needs(name)
    if lacking := [each.title for each in wanted if store.missing(each)]:
        advice = f"Fetch what is missing with: rubato models get {name}"
        return fault(_VOICE, f"{name} lacks: {'; '.join(lacking)}.", advice)
    return ok(_VOICE, f"{wanted[-1].title}, complete")


def languages(settings: Settings) -> Iterator[Finding]:
    """Report the languages that voices speak, and why the user's language is not spoken or
    heard.
    """
    from engine.asr import pick as ears
    from engine.tts.registry import usable

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
