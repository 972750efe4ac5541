"""The machine's own microphones and loudspeakers, through PortAudio (sounddevice and rtmixer).

Invariant: PortAudio is opened, closed and re-initialised by one thread at a time, under _LOCK; it
is loaded when first needed, never at import, because initialising it asks every sound driver.

The callback is rtmixer's, in C. Measured on two cores with tests/benchmarks/callback_soak.py (see
there for the table): with four busy Python threads a Python callback left a third of the sound
silent, and one C call that held the interpreter lock for 150 ms was audible each time; the C
callback lost nothing in either. What it plays can still be changed ahead of its read position, so
a cut or a lower gain does not wait for the ring to drain (see tape.py).

Devices are opened at their own rate. ALSA names 44.1 kHz for devices that merely accept it, so
48 kHz, what sound servers run at and a whole multiple of every speech rate used here, is tried
first there.
"""

import importlib
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from engine.audio.loudspeaker import PortAudioLoudspeaker
from engine.audio.microphone import PortAudioMicrophone
from engine.errors import DeviceError

_BLOCKS_PER_S = 100  # 10 ms blocks
_LATENCY_S = 0.04  # asked of the device; see callback_soak.py for what shorter ones cost
_SERVER_RATE = 48_000
_LOCK = threading.Lock()
_OPEN: set[int] = set()  # identities of streams that are not closed

# ALSA lists converters beside devices; opening one of these as a device makes no sense.
_NOT_DEVICES = re.compile(
    r"lavrate|samplerate|speex(rate)?|v?(up|down)mix|jack|oss|a52|null|arcam_av|d(mix|snoop)"
    r"|front|rear|center_lfe|side|surround\d\d|iec958|spdif|hdmi|modem|phoneline"
)


@dataclass(frozen=True)
class Devices:
    """Names to open devices by; the system default is the empty name and not listed."""

    microphones: tuple[str, ...]
    loudspeakers: tuple[str, ...]


@dataclass(frozen=True)
class _Kind:
    """What differs between the two directions."""

    noun: str
    channels: str  # key in PortAudio's device description
    default: str  # key in PortAudio's host API description


_MICROPHONE = _Kind("microphone", "max_input_channels", "default_input_device")
_LOUDSPEAKER = _Kind("loudspeaker", "max_output_channels", "default_output_device")


def devices() -> Devices:
    """What can be opened, as of PortAudio's start or the last refresh() that worked.

    DeviceError when PortAudio itself is missing.
    """
    with _portaudio() as library:
        return Devices(
            tuple(sorted(_by_name(library, _MICROPHONE))),
            tuple(sorted(_by_name(library, _LOUDSPEAKER))),
        )


def refresh() -> bool:
    """Make PortAudio look for devices again. False, and nothing done, while a stream is open."""
    with _portaudio() as library:
        if _OPEN:
            return False
        library._terminate()  # there is no public way; PortAudio freezes its list (PortAudio #750)
        library._initialize()
        return True


def open_microphone(name: str = "") -> PortAudioMicrophone:
    """Start recording from the device called `name` (empty: the system's default).

    DeviceError when there is none of that name, none at all, or it refuses to open.
    """
    with _portaudio() as library:
        device = _find(library, name, _MICROPHONE)
        rtmixer = importlib.import_module("rtmixer")
        # One channel lets the host mix down as the person configured it; some raw devices only
        # open with all of theirs.
        for channels in (1, min(2, device["max_input_channels"])):
            try:
                stream = rtmixer.Recorder(
                    **_stream_options(library, device, "input", channels=channels)
                )
                stream.start()
            except library.PortAudioError as error:
                fault = error
                continue
            microphone = PortAudioMicrophone(device["name"], stream, _close)
            _OPEN.add(id(stream))
            return microphone
        raise _refused(device["name"], _MICROPHONE, fault) from fault


def open_loudspeaker(name: str = "") -> PortAudioLoudspeaker:
    """Start playing silence on the device called `name` (empty: the system's default).

    DeviceError when there is none of that name, none at all, or it refuses to open.
    """
    with _portaudio() as library:
        device = _find(library, name, _LOUDSPEAKER)
        rtmixer = importlib.import_module("rtmixer")
        # Two channels where there are two: a mono stream comes out on the left only on some hosts.
        channels = min(2, device["max_output_channels"])
        try:
            stream = rtmixer.Mixer(**_stream_options(library, device, "output", channels=channels))
            stream.start()
        except library.PortAudioError as error:
            raise _refused(device["name"], _LOUDSPEAKER, error) from error
        _OPEN.add(id(stream))
        return PortAudioLoudspeaker(device["name"], stream, _close)


def _close(stream: Any) -> None:
    with _LOCK:
        stream.abort()
        stream.close()
        _OPEN.discard(id(stream))


@contextmanager
def _portaudio() -> Iterator[Any]:
    """The sounddevice module, held by this thread alone."""
    with _LOCK:
        try:
            library = importlib.import_module("sounddevice")
        except OSError as error:
            raise DeviceError(
                "The sound library PortAudio is not installed.", hint=_install_hint()
            ) from error
        try:
            yield library
        except library.PortAudioError as error:
            raise DeviceError(
                f"The sound system does not answer ({error}).", hint=_no_device_hint()
            ) from error


def _by_name(library: Any, kind: _Kind) -> dict[str, dict[str, Any]]:
    """Device descriptions by the names shown to the person, which are unique."""
    apis = library.query_hostapis()
    found = [
        device
        for device in library.query_devices()
        if device[kind.channels] > 0 and _is_offered(device, apis)
    ]
    named: dict[str, dict[str, Any]] = {}
    for device in found:
        name = device["name"]
        if sum(other["name"] == name for other in found) > 1:
            name = f"{name} ({apis[device['hostapi']]['name']})"
        number = 2
        unique = name
        while unique in named:  # two of the same kind on one host API
            unique, number = f"{name} #{number}", number + 1
        named[unique] = {**device, "name": unique, "host": apis[device["hostapi"]]["name"]}
    return named


def _is_offered(device: dict[str, Any], apis: Any) -> bool:
    """Windows shows each device once per host API; WASAPI is the one that knows its own rate."""
    host = apis[device["hostapi"]]["name"]
    if host == "ALSA":
        return not _NOT_DEVICES.fullmatch(device["name"])
    return host == "Windows WASAPI" or all(api["name"] != "Windows WASAPI" for api in apis)


def _find(library: Any, name: str, kind: _Kind) -> dict[str, Any]:
    named = _by_name(library, kind)
    if not named:
        raise DeviceError(f"No {kind.noun} was found.", hint=_no_device_hint())
    if name:
        if name not in named:
            raise DeviceError(
                f"The {kind.noun} '{name}' is not connected.",
                hint=f"Connect it, or choose another: {', '.join(sorted(named))}.",
            )
        return named[name]
    offered = {device["index"]: device for device in named.values()}
    candidates = [library.default.device[kind is _LOUDSPEAKER]]
    candidates += [api[kind.default] for api in library.query_hostapis()]
    for index in candidates:
        if index in offered:
            return offered[index]
    return next(iter(named.values()))


def _stream_options(
    library: Any, device: dict[str, Any], direction: str, *, channels: int
) -> dict[str, Any]:
    rate = _rate(library, device, direction, channels)
    return {
        "device": device["index"],
        "samplerate": rate,
        "blocksize": rate // _BLOCKS_PER_S,
        "channels": channels,
        "latency": _LATENCY_S,
    }


def _rate(library: Any, device: dict[str, Any], direction: str, channels: int) -> int:
    own = int(device["default_samplerate"])
    if device["host"] != "ALSA":
        return own
    check = getattr(library, f"check_{direction}_settings")
    try:
        check(device["index"], channels=channels, dtype="float32", samplerate=_SERVER_RATE)
    except library.PortAudioError:
        return own
    return _SERVER_RATE


def _refused(name: str, kind: _Kind, error: Exception) -> DeviceError:
    return DeviceError(
        f"The {kind.noun} '{name}' could not be opened ({error}).",
        hint="Another program may be using it, or the system may forbid access to it. "
        "Close that program, allow access in the system's privacy settings, or choose another.",
    )


def _install_hint() -> str:
    return (
        "Install it: 'sudo apt install libportaudio2' on Debian and Ubuntu, "
        "'sudo dnf install portaudio' on Fedora, 'sudo pacman -S portaudio' on Arch."
    )


def _no_device_hint() -> str:
    if sys.platform.startswith("linux"):
        return (
            "Connect one, and check that PipeWire or PulseAudio is running: 'pactl info' should "
            "name a default sink and a default source. Without a sound server, 'aplay -l' and "
            "'arecord -l' should list a card."
        )
    return "Connect one and switch it on in the system's sound settings."
