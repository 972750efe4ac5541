"""The machine's microphones and loudspeakers, through PortAudio (sounddevice and rtmixer).

Invariant: PortAudio is opened, closed and initialised by one thread at a time, under _HOST.lock. It
is loaded when first needed, never at import, because its initialisation queries every sound driver.

PortAudio fixes its list of devices when it is initialised. So refresh() closes the open streams,
initialises again and reopens them under the same Microphone and Loudspeaker objects. Their samples
wait meanwhile: there is a short gap, and then new devices can be opened. Opening a device that is
not on the old list does this automatically, at most every few seconds.

The callback is rtmixer's, in C. Measured in tests/benchmarks/callback_soak.py: while another thread
kept the interpreter lock for 0.1 s at a time, a Python callback lost 2.8 s of 40, the C callback
nothing. With four busy Python threads it was 13.9 s against 1.3 to 5 s, and nothing once
sys.setswitchinterval(0.001) let the writer keep up. The samples that the C callback plays next can
still be changed, so a cut or a lower gain does not wait for the ring to drain (tape.py).

Devices are opened at their own rate. ALSA reports 44.1 kHz for devices that merely accept it. So 48
kHz is tried first there: sound servers run at it, and it is a multiple of most speech rates.
"""

import importlib
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from engine.audio.devices.stream import DeviceStream, PortAudioLoudspeaker, PortAudioMicrophone
from engine.audio.devices.time_limit import any_left_behind, within_limit
from engine.errors import DeviceError
from engine.translatable import Translatable

_BLOCKS_PER_S = 100  # 10 ms blocks
_LATENCY_S = 0.04  # requested from the device; 20 and 80 ms lost the same in the soak
_SERVER_RATE = 48_000
_LOOK_AGAIN_S = 5.0  # repeated requests for a missing device must not interrupt the sound
_Device = TypeVar("_Device", PortAudioMicrophone, PortAudioLoudspeaker)

# ALSA lists converters as devices; opening one of these makes no sense.
_NOT_DEVICES = re.compile(
    r"lavrate|samplerate|speex(rate)?|v?(up|down)mix|jack|oss|a52|null|arcam_av|d(mix|snoop)"
    r"|front|rear|center_lfe|side|surround\d\d|iec958|spdif|hdmi|modem|phoneline"
)


@dataclass(frozen=True)
class Devices:
    """Names to open devices by; the system default is the empty name and not listed."""

    microphones: tuple[str, ...]
    loudspeakers: tuple[str, ...]


@dataclass
class _Host:
    """This module's state of PortAudio, which exists once per process."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    open: list[DeviceStream] = field(default_factory=list)
    looked_at: float = -_LOOK_AGAIN_S  # time.monotonic() when opening last caused a new list


_HOST = _Host()


def devices() -> Devices:
    """Return the devices as of the last refresh(). DeviceError if PortAudio is missing."""
    with _portaudio() as library:
        return Devices(
            tuple(sorted(_named(library, PortAudioMicrophone))),
            tuple(sorted(_named(library, PortAudioLoudspeaker))),
        )


def refresh() -> None:
    """Make PortAudio look for devices again; open ones have a gap of about 0.1 s.

    A device that cannot be reopened is gone, as its read() or write() reports. DeviceError if a
    device once blocked PortAudio (time_limit.py).
    """
    with _portaudio() as library:
        _initialise_again(library)


def open_microphone(name: str = "") -> PortAudioMicrophone:
    """Start recording from the device called `name` (empty: the system's default).

    DeviceError if there is none of that name, none at all, or it refuses to open.
    """
    return _opened(PortAudioMicrophone, name)


def open_loudspeaker(name: str = "") -> PortAudioLoudspeaker:
    """Start playing silence on the device called `name` (empty: the system's default).

    DeviceError if there is none of that name, none at all, or it refuses to open.
    """
    return _opened(PortAudioLoudspeaker, name)


def _opened(kind: type[_Device], name: str) -> _Device:
    with _portaudio() as library:
        stream = _open(library, name, kind)
        named = _named(library, kind).items()
        shown = next(shown for shown, each in named if each["index"] == stream.device)
        device = kind(shown, stream, lambda: _start(library, name, kind), _close)
        _HOST.open.append(device)
        return device


def _close(device: DeviceStream) -> None:
    with _HOST.lock:
        device.suspend()
        _HOST.open.remove(device)


@contextmanager
def _portaudio() -> Iterator[Any]:
    """Yield the sounddevice module, locked for this thread."""
    with _HOST.lock:
        try:
            library = importlib.import_module("sounddevice")
        except OSError as error:
            raise DeviceError(
                "The sound library PortAudio is not installed.",
                hint="Install it: 'sudo apt install libportaudio2' on Debian and Ubuntu, 'sudo dnf "
                "install portaudio' on Fedora, 'sudo pacman -S portaudio' on Arch.",
            ) from error
        try:
            yield library
        except library.PortAudioError as error:
            raise DeviceError(
                "The sound system does not answer ({error}).", hint=_no_device_hint(), error=error
            ) from error


def _initialise_again(library: Any) -> None:
    stuck = any_left_behind()
    if not stuck:
        for device in _HOST.open:
            device.suspend()
        stuck = any_left_behind()  # the suspension may have added one
        if not stuck:
            library._terminate()  # there is no public way (PortAudio #750)
            library._initialize()
        for device in _HOST.open:
            device.resume()
    if stuck:
        raise DeviceError(
            "The sound system cannot list new devices any more.", hint="Start Rubato again."
        )


def _open(library: Any, name: str, kind: type[DeviceStream]) -> Any:
    """Return a started stream; update the list of devices if the old one fails."""
    try:
        return _start(library, name, kind)
    except DeviceError:
        now = time.monotonic()
        if any_left_behind() or now - _HOST.looked_at < _LOOK_AGAIN_S:
            raise
        _HOST.looked_at = now
    _initialise_again(library)
    return _start(library, name, kind)


def _start(library: Any, name: str, kind: type[DeviceStream]) -> Any:
    """Return a started stream of a device on the current list."""
    device = _find(library, name, kind)
    most = min(2, device[f"max_{kind.way}_channels"])
    # Playing: two channels if possible; on some hosts a mono stream is heard only on the left.
    # Recording: one channel, mixed by the host; some raw devices refuse that.
    counts = (most,) if kind is PortAudioLoudspeaker else tuple(dict.fromkeys((1, most)))
    rtmixer = importlib.import_module("rtmixer")
    fault: Exception | None = None
    for channels in counts:
        rate = int(device["default_samplerate"])
        if device["host"] == "ALSA":
            with suppress(library.PortAudioError):
                getattr(library, f"check_{kind.way}_settings")(
                    device["index"], channels=channels, dtype="float32", samplerate=_SERVER_RATE
                )
                rate = _SERVER_RATE
        try:
            stream = getattr(rtmixer, kind.recorder)(
                device=device["index"],
                samplerate=rate,
                blocksize=rate // _BLOCKS_PER_S,
                channels=channels,
                latency=_LATENCY_S,
            )
            within_limit(stream.start)
        except TimeoutError:
            raise DeviceError(
                "{noun} '{name}' was disconnected.",
                hint="Choose another one. To use one that you connect from now on, start "
                "Rubato again.",
                noun=kind.noun,
                name=device["name"],
            ) from None
        except library.PortAudioError as error:
            fault = error
        else:
            return stream
    raise DeviceError(
        "{noun} '{name}' could not be opened ({error}).",
        hint="Another program may be using it, or the system may forbid access to it. Close "
        "that program, allow access in the system's privacy settings, or choose another.",
        noun=kind.noun,
        name=device["name"],
        error=fault,
    ) from fault


def _named(library: Any, kind: type[DeviceStream]) -> dict[str, dict[str, Any]]:
    """Return device descriptions by the unique names that are shown to the user."""
    apis = library.query_hostapis()
    descriptions = [
        {**device, "host": apis[device["hostapi"]]["name"]}
        for device in library.query_devices()
        if device[f"max_{kind.way}_channels"] > 0
    ]
    # Windows shows each device once per host API; WASAPI is the one that knows its own rate.
    if any(device["host"] == "Windows WASAPI" for device in descriptions):
        descriptions = [device for device in descriptions if device["host"] == "Windows WASAPI"]
    named: dict[str, dict[str, Any]] = {}
    for device in descriptions:
        if device["host"] == "ALSA" and _NOT_DEVICES.fullmatch(device["name"]):
            continue
        name = device["name"]
        if sum(other["name"] == name for other in descriptions) > 1:
            name = f"{name} ({device['host']})"
        same = sum(other == name or other.startswith(f"{name} #") for other in named)
        name = f"{name} #{same + 1}" if same else name  # two of a kind on one host API
        named[name] = {**device, "name": name}
    return named


def _find(library: Any, name: str, kind: type[DeviceStream]) -> dict[str, Any]:
    named = _named(library, kind)
    if not named:
        raise DeviceError(kind.none, hint=_no_device_hint())
    if name:
        if name not in named:
            raise DeviceError(
                "{noun} '{name}' is not connected.",
                hint="Connect it, or choose another: {names}.",
                noun=kind.noun,
                name=name,
                names=", ".join(sorted(named)),
            )
        return named[name]
    offered = {device["index"]: device for device in named.values()}
    candidates = [library.default.device[kind is PortAudioLoudspeaker]]
    candidates += [api[f"default_{kind.way}_device"] for api in library.query_hostapis()]
    usable = [offered[index] for index in candidates if index in offered]
    return usable[0] if usable else next(iter(offered.values()))


def _no_device_hint() -> str:
    if sys.platform.startswith("linux"):
        return Translatable(
            "Connect one, and check that PipeWire or PulseAudio is running: 'pactl "
            "info' should name a default sink and a default source. Without a sound "
            "server, 'aplay -l' and 'arecord -l' should list a card."
        )
    return Translatable("Connect one and switch it on in the system's sound settings.")
