"""The doctor's checks, each seen well and seen broken."""

import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import metadata
from importlib.machinery import ModuleSpec
from types import SimpleNamespace

import pytest

from engine.asr import pick
from engine.audio.devices import portaudio
from engine.audio.devices.portaudio import Devices
from engine.doctor import examine, machine, parts
from engine.doctor.finding import Finding, State
from engine.errors import DeviceError
from engine.settings import Settings, change
from engine.settings.systems import SYSTEMS
from engine.settings_file import data_folder
from engine.tts import packs
from engine.tts.kokoro.voices import FILES
from engine.tts.voxtream.files import paths
from tests.engine.assets.fetched import fetched
from tests.engine.tts.voxtream.files.small_pack import write_pack
from tests.help.fakes.parts import FORMANT
from tests.help.machine.loopback import free_port, serving


def one(check: Callable[[Settings], object], settings: Settings | None = None) -> Finding:
    """The most severe finding of a check."""
    order = [State.OK, State.WARNING, State.FAULT]
    return max(check(settings or Settings()), key=lambda finding: order.index(finding.state))


def test_missing_packages_are_named(monkeypatch):
    def version(name: str) -> str:
        if name in ("soxr", "pint"):
            raise metadata.PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(metadata, "version", version)
    wanted = ["soxr>=1.0", "pint<0.26", "numpy", "x; sys_platform == 'win32'"]
    monkeypatch.setattr(metadata, "requires", lambda name: wanted)
    assert one(machine.packages).text == "Not installed: soxr, pint"


def fake_torch(monkeypatch: pytest.MonkeyPatch, *, capability: tuple[int, int] | None) -> None:
    """A torch that sees one card of this compute capability; None: it sees none."""
    cuda = SimpleNamespace(
        is_available=lambda: capability is not None,
        device_count=lambda: 1,
        get_device_name=lambda number: "Card",
        get_device_capability=lambda number: capability,
        get_arch_list=lambda: ["sm_80", "sm_90"],
    )
    torch = SimpleNamespace(__version__="2.13.0", version=SimpleNamespace(cuda="13.0"), cuda=cuda)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(machine.importlib.util, "find_spec", lambda name: ModuleSpec(name, None))
    monkeypatch.setattr(machine.hardware, "has_card_driver", lambda: capability is not None)


def test_a_card_that_torch_was_not_built_for_or_that_is_not_there_is_reported(monkeypatch):
    for capability, state in (((9, 0), State.OK), ((8, 6), State.OK), ((12, 0), State.WARNING)):
        fake_torch(monkeypatch, capability=capability)
        finding = one(machine.graphics_card)
        assert finding.state is state
        assert "Card, compute " in finding.text
    fake_torch(monkeypatch, capability=None)
    assert one(machine.graphics_card).state is State.OK
    wanted = change(Settings(), "speech.device", "cuda")
    assert one(machine.graphics_card, wanted).state is State.WARNING
    monkeypatch.setattr(machine.hardware, "has_card_driver", lambda: True)
    for platform, advice in (("linux", "make run"), ("win32", "installing.md")):
        monkeypatch.setattr(machine.sys, "platform", platform)
        assert "cannot use it" in one(machine.graphics_card).text
        assert advice in one(machine.graphics_card).advice
    monkeypatch.setattr(machine.importlib.util, "find_spec", lambda name: None)
    assert one(machine.graphics_card).state is State.FAULT


def test_little_room_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path / "not" / "yet"))
    for free_mib, state in ((99, State.FAULT), (2047, State.WARNING), (2048, State.OK)):
        free = SimpleNamespace(free=free_mib * machine.MIB)
        monkeypatch.setattr(machine.shutil, "disk_usage", lambda folder, free=free: free)
        assert one(machine.room).state is state


def test_no_display_or_one_without_the_library_that_qt_does_not_name_is_reported(monkeypatch):
    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(machine.sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert one(machine.display).state is State.WARNING
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setattr(machine.ctypes, "CDLL", missing)
    assert "libxcb-cursor0" in one(machine.display).advice


@pytest.mark.parametrize(
    ("content", "state"),
    [(None, State.OK), ("[audio]\nvolume = 0.5\n", State.OK), ("[audio\n", State.WARNING)],
)
def test_the_settings_are_read_and_their_folder_is_writable(content, state, tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_CONFIG", str(tmp_path))
    if content is not None:
        (tmp_path / "settings.toml").write_text(content)
    assert one(machine.settings_file).state is state
    monkeypatch.setattr(machine.os, "access", lambda folder, mode: False)
    assert any("cannot be written" in each.text for each in machine.settings_file(Settings()))


def test_a_check_that_breaks_is_a_fault_and_the_others_still_speak():
    def broken(settings: Settings) -> Iterator[Finding]:
        yield Finding("first", State.OK, "fine")
        raise RuntimeError("the driver is gone")

    def fine(settings: Settings) -> list[Finding]:
        return [Finding("second", State.OK, "fine")]

    findings = examine(Settings(), [broken, fine])
    assert [finding.state for finding in findings] == [State.OK, State.FAULT, State.OK]
    assert "RuntimeError: the driver is gone" in findings[1].text


def test_every_part_of_this_machine_is_looked_at_and_no_fault_lacks_advice():
    findings = examine(Settings())
    looked_at = {"Python", "packages", "disk", "display", "recogniser", "synthesiser"}
    assert looked_at <= {finding.part for finding in findings}
    assert all(finding.text for finding in findings)
    assert all(finding.advice for finding in findings if finding.state is not State.OK)
    assert not any("check itself failed" in finding.text for finding in findings)


@pytest.mark.parametrize(("without", "state"), [((), State.OK), (("Heart",), State.FAULT)])
def test_kokoro_without_a_voice_is_a_fault(without, state):
    fetched(data_folder(), "kokoro")
    folder = fetched(data_folder(), "kokoro-voices")
    for voice in without:
        (folder / "voices" / f"{FILES[voice]}.bin").unlink()
    settings = change(Settings(), "speech.engine", "kokoro")
    finding = next(each for each in parts.synthesiser(settings) if "okoro" in each.text)
    assert finding.state is state
    assert "models get kokoro" in finding.advice or state is State.OK


@pytest.mark.parametrize(
    ("engine", "without", "system", "told"),
    [
        ("kokoro", (), "fr", ()),
        ("kokoro", ("Sylvie", "Dora"), "en", ("No voice speaks Français.",)),
        ("espeak", (), "en", ()),
        ("espeak", (), "pt_BR", ("No voice speaks Español, Italiano, Português, Français.",)),
        ("espeak", (), "nl", ("'nl'",)),
    ],
)
def test_the_languages_that_are_spoken_are_named_and_what_is_missing(
    engine, without, system, told, monkeypatch
):
    monkeypatch.setenv("LANGUAGE", system)
    monkeypatch.setattr(pick, "resolve", lambda settings: settings)
    fetched(data_folder(), "kokoro")
    folder = fetched(data_folder(), "kokoro-voices")
    for voice in without:
        (folder / "voices" / f"{FILES[voice]}.bin").unlink()
    settings = change(change(Settings(), "speech.engine", engine), "recogniser.engine", "whisper")
    spoken, *others = parts.languages(settings)
    many, few = ("28 voices", "Chiara, Nicola") if engine == "kokoro" else ("6 voices", "no voice")
    assert f"English ({many})" in spoken.text
    assert f"Italiano ({few})" in spoken.text
    assert ("Dora" in spoken.text) is (engine == "kokoro" and not without)
    assert all(words in each.text for words, each in zip(told, others, strict=True))


def test_a_recogniser_that_hears_english_only_is_a_fault_of_other_systems(monkeypatch):
    settings = change(Settings(), "recogniser.engine", "sphinx")
    for system, states in (("en", {State.OK}), ("es", {State.OK, State.WARNING})):
        monkeypatch.setenv("LANGUAGE", system)
        found = [each for each in parts.languages(settings) if "recogniser" in each.text]
        assert {State.OK, *(each.state for each in found)} == states
    assert "whisper-base" in found[0].advice


def with_values(**values: str) -> Settings:
    """Settings with values of the language model changed."""
    settings = Settings()
    for name, value in values.items():
        settings = change(settings, f"language_model.{name}", value)
    return settings


def states(findings: Iterable[Finding]) -> list[tuple[str, State]]:
    return [(finding.part, finding.state) for finding in findings]


def test_connected_devices_are_listed_and_a_missing_one_or_library_is_told(monkeypatch):
    there = [("Built-in", "Headset")]
    monkeypatch.setattr(portaudio, "devices", lambda: Devices(there[0], ("Built-in",)))
    microphone, loudspeaker = parts.sound(Settings())
    assert microphone.text == "system default; there are: Built-in, Headset"
    assert loudspeaker.state is State.OK
    chosen = change(Settings(), "audio.microphone", "Headset")
    for there[0], settings, state in (
        (("Built-in", "Headset"), chosen, State.OK),
        (("Built-in",), chosen, State.WARNING),
        ((), Settings(), State.FAULT),
    ):
        assert states(parts.sound(settings)) == [("microphone", state), ("loudspeaker", State.OK)]

    def devices() -> Devices:
        raise DeviceError("PortAudio is missing.", hint="Install it.")

    monkeypatch.setattr(portaudio, "devices", devices)
    (found,) = parts.sound(Settings())
    assert (found.text, found.advice) == ("PortAudio is missing.", "Install it.")
    assert (found.state, found.code) == (State.FAULT, "device")


def test_the_bundled_recogniser_is_well_and_a_better_one_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    (found,) = parts.recogniser(Settings())
    assert (found.part, found.state) == ("recogniser", State.OK)
    assert "rubato models get whisper-base" in found.text
    pick.keep(pick.judge(2100.0), tmp_path)
    (found,) = parts.recogniser(Settings())
    assert "Whisper is not fetched" in found.text  # whatever was measured of it
    fetched(tmp_path, pick.ASSET)
    (found,) = parts.recogniser(Settings())
    assert found.text.startswith("sphinx")
    assert found.text.endswith("has the text 2.1 s after the end of a sentence, more than 2.0 s.")
    monkeypatch.setattr("pocketsphinx.get_model_path", lambda name: str(tmp_path / name))
    assert states(parts.recogniser(Settings())) == [("recogniser", State.FAULT)]


def test_a_model_file_must_be_there_and_be_one(tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "_has_llama", lambda: True)
    file = tmp_path / "model.gguf"
    chosen = with_values(engine="llama", model=str(file))
    for content, state in ((None, State.FAULT), (b"PK\x03\x04", State.FAULT), (b"GGUF", State.OK)):
        if content is not None:
            file.write_bytes(content)
        assert states(parts.language_model(chosen)) == [("language model", state)]
    monkeypatch.setattr(parts, "_has_llama", lambda: False)
    assert any("make llm" in finding.advice for finding in parts.language_model(chosen))


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    """A server on loopback that answers with the status in `status`, keeping what it was sent."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        server.asked.append((request.path, request.headers["Authorization"]))
        request.send_response(server.status)
        request.send_header("Location", f"/elsewhere/{len(server.asked)}")
        request.end_headers()

    with serving(answer) as server:
        server.status, server.asked = 200, []
        yield server


def address_of(server: HTTPServer) -> str:
    return f"http://127.0.0.1:{server.server_port}/v1/"


def server_state(found: Iterable[Finding]) -> State:
    return next(iter(found)).state


def test_a_server_is_judged_by_its_answer_and_one_that_is_down_is_a_fault(server):
    chosen = with_values(engine="server", address=address_of(server))
    for status, state in ((200, State.OK), (401, State.FAULT), (404, State.WARNING)):
        server.status = status
        assert server_state(parts.language_model(chosen)) is state
    assert server.asked == [("/v1/models", None)] * 3
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as other:
        address = address_of(other)
    found = parts.language_model(with_values(engine="server", address=address))
    assert server_state(found) is State.FAULT


def test_a_server_gets_the_key_from_the_environment_and_nobody_elsewhere(server, monkeypatch):
    chosen = with_values(engine="server", address=address_of(server), key_variable="MY_KEY")
    monkeypatch.delenv("MY_KEY", raising=False)
    assert server_state(parts.language_model(chosen)) is State.WARNING
    monkeypatch.setenv("MY_KEY", "s3cret")
    for server.status in (200, 301, 302, 307, 308):
        server.asked.clear()
        found = list(parts.language_model(chosen))
        assert server_state(found) is (State.OK if server.status == 200 else State.FAULT)
        assert server.asked == [("/v1/models", "Bearer s3cret")]
        assert "s3cret" not in repr(found)


def test_a_key_goes_to_no_proxy_that_the_address_does_not_need(server, monkeypatch):
    """`server` is both: the server of the settings, and a proxy that sees what it gets."""
    monkeypatch.setenv("MY_KEY", "s3cret")
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, address_of(server).removesuffix("/v1/"))
    address = f"http://127.0.0.1:{free_port()}/v1"
    chosen = with_values(engine="server", address=address, key_variable="MY_KEY")
    assert server_state(parts.language_model(chosen)) is State.FAULT
    assert server.asked == []


def test_a_server_that_says_nothing_and_an_address_that_is_none_are_told(server, monkeypatch):
    monkeypatch.setattr(parts, "SERVER_WAIT_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        (found, *_) = parts.language_model(with_values(engine="server", address=address))
    assert "said nothing for 0.1 seconds" in found.text
    for address in ("http://127.0.0.1:99999/v1", "http://[::1/v1"):
        (found, *_) = parts.language_model(with_values(engine="server", address=address))
        assert "is not the address of a language-model server" in found.text


def test_the_built_in_synthesisers_are_well(tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    monkeypatch.setattr(packs, "SHIPPED", "no such folder")
    write_pack(paths.own_folder())
    chosen, own, *made_here, formant = parts.synthesiser(Settings())
    assert "starter; 'auto'" in chosen.text
    assert "The built-in voice: Kokoro is not fetched" in chosen.text
    assert (own.state, formant.state) == (State.OK, State.OK)
    assert [found.state for found in made_here] == [State.OK] * len(SYSTEMS)
    assert all("python -m engine.training" in found.text for found in made_here)
    assert "small-starter with the voices Ada, Bruno" in own.text


def test_a_missing_pack_voice_or_data_is_a_fault_where_it_should_speak(tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    monkeypatch.setattr(paths, "NAME", "no such pack")
    for settings, state in ((Settings(), State.FAULT), (FORMANT, State.WARNING)):
        found = next(each for each in parts.synthesiser(settings) if each.state is not State.OK)
        assert found.state is state
        assert "missing from this installation" in found.text
        assert "Install the program again" in found.advice
    monkeypatch.setattr("espeakng_loader.get_data_path", lambda: "/no/such/folder")
    assert states(parts.synthesiser(FORMANT))[-1] == ("synthesiser", State.FAULT)
    settings = change(Settings(), "speech.engine", "voxtream2")
    found = next(iter(parts.synthesiser(settings)))
    assert found.state is State.FAULT
    assert found.advice.endswith("rubato models get voxtream2")
