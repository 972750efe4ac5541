"""A private sound card for tests: a PulseAudio server of our own with a virtual microphone and a
virtual loudspeaker, so that the real PortAudio path runs on machines without sound hardware.

Invariant: nothing outside `folder` is touched and the person's own sound server is never spoken to;
leaving the context ends every process that was started here.

    with virtual_audio(tmp_path) as card:
        card.speak(wav)                      # into the microphone; returns when it was spoken
        with card.recording(out_wav): ...    # what the loudspeaker plays meanwhile
        card.unplug(SPEAKER)                 # the device is pulled out; plug() brings it back
        card.freeze(MICROPHONE)              # it stays, but no sample comes any more

Programs see four devices: `default` (follows the server's default), `vmic` and `vspk` (the
defaults), and `vhead`, a second loudspeaker to switch from or to.

PortAudio reads the environment when it is initialised. `virtual_audio` therefore changes the
environment of this very process while it is open (and hands the same variables in `card.env` to
child processes); a PortAudio that is already running must be re-initialised after entering, which
for the engine is `engine.audio.devices.portaudio.refresh()`.
"""

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import which

MICROPHONE, SPEAKER, HEADSET = "vmic", "vspk", "vhead"  # also the names PortAudio lists
_FEED = "vmic_in"  # the sink behind the microphone
_PROGRAMS = ("pulseaudio", "pactl", "paplay", "parec")
_START_TIMEOUT_S = 10.0

# Applications reach the server as the ALSA default and by name, as on a desktop with PulseAudio.
# alsa.conf first: without its defaults PortAudio finds no device at all.
_ALSA = """\
</usr/share/alsa/alsa.conf>
pcm.!default { type pulse }
ctl.!default { type pulse }
"""
_ALSA_DEVICE = """\
pcm.{name} {{ type pulse device {name} hint {{ show on description "virtual {name}" }} }}
"""

# norewinds: without it an idle null sink sleeps for two seconds before a new stream gets going.
_MODULES = {
    SPEAKER: (f"module-null-sink sink_name={SPEAKER} rate=48000 channels=2 norewinds=1",),
    HEADSET: (f"module-null-sink sink_name={HEADSET} rate=48000 channels=2 norewinds=1",),
    MICROPHONE: (
        f"module-null-sink sink_name={_FEED} rate=48000 channels=1 norewinds=1",
        f"module-remap-source master={_FEED}.monitor source_name={MICROPHONE}",
    ),
}


def missing_programs() -> tuple[str, ...]:
    """Return the programs that virtual_audio() needs and that are not installed."""
    return tuple(program for program in _PROGRAMS if which(program) is None)


@dataclass
class VirtualAudio:
    """A running virtual sound card, made by virtual_audio()."""

    folder: Path
    env: dict[str, str]
    server: subprocess.Popen[bytes]
    _modules: dict[str, list[str]] = field(default_factory=dict)

    def speak(self, wav: Path) -> None:
        """Play a WAV into the microphone; returns when the last sample was taken."""
        self._run("paplay", f"--device={_FEED}", "--latency-msec=40", str(wav))

    def speaking(self, wav: Path) -> "subprocess.Popen[bytes]":
        """The same without waiting; the caller waits for the process or terminates it."""
        command = ["paplay", f"--device={_FEED}", "--latency-msec=40", str(wav)]
        return subprocess.Popen(command, env=self._environment())

    @contextmanager
    def recording(self, wav: Path, speaker: str = SPEAKER) -> Iterator[None]:
        """Record what the loudspeaker plays (48 kHz, stereo, 16 bit) until the context is left."""
        command = ["parec", f"--device={speaker}.monitor", "--latency-msec=40"]
        command += ["--format=s16le", "--rate=48000", "--channels=2", "--file-format=wav", str(wav)]
        recorder = subprocess.Popen(command, env=self._environment())
        try:
            self._until(lambda: wav.exists() and wav.stat().st_size > 0, "recorder")
            yield
        finally:
            recorder.terminate()  # it completes the header when asked to end
            recorder.wait(timeout=5)

    def plug(self, device: str, *, default: bool = True) -> None:
        """Make a device appear, as the server's default or not."""
        loaded = [self._run("pactl", "load-module", *m.split()).strip() for m in _MODULES[device]]
        self._modules[device] = loaded
        if default:
            kind = "source" if device == MICROPHONE else "sink"
            self._run("pactl", f"set-default-{kind}", device)

    def unplug(self, device: str) -> None:
        """Make a device vanish while streams may be using it.

        The server would move their streams to any other sink or source, the microphone's feed or
        a loudspeaker's monitor, so they are ended first; in one go, or a program could open the
        device again before it has gone.
        """
        kind, streams = ("source", "source-output"), "source-outputs"
        if device != MICROPHONE:
            kind, streams = ("sink", "sink-input"), "sink-inputs"
        index = next(row[0] for row in self._list(f"{kind[0]}s") if row[1] == device)
        ends = [f"kill-{kind[1]} {row[0]}" for row in self._list(streams) if row[1] == index]
        ends += [f"unload-module {module}" for module in reversed(self._modules.pop(device))]
        self._tell(*ends)

    def freeze(self, device: str) -> None:
        """Make a device stop without a word, as some drivers do when it is pulled out."""
        kind = "source" if device == MICROPHONE else "sink"
        self._run("pactl", f"suspend-{kind}", device, "1")

    def crash(self) -> None:
        """End the sound server itself, as when PulseAudio or PipeWire crashes."""
        self.server.kill()
        self.server.wait(timeout=5)

    def _list(self, what: str) -> list[list[str]]:
        return [row.split("\t") for row in self._run("pactl", "list", "short", what).splitlines()]

    def _tell(self, *commands: str) -> None:
        """What pactl has no word for, over the server's own command line."""
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(5)
            line.connect(str(self.folder / "pulse" / "cli"))
            line.sendall("".join(f"{command}\n" for command in commands).encode())
            line.shutdown(socket.SHUT_WR)
            while line.recv(4096):  # it hangs up when it has done so
                pass

    def _environment(self) -> dict[str, str]:
        return {**os.environ, **self.env}

    def _run(self, *command: str) -> str:
        done = subprocess.run(
            command,
            env=self._environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"the {what} of the virtual sound card did not start")
            time.sleep(0.02)

    def _answers(self) -> bool:
        with suppress(RuntimeError):
            self._run("pactl", "info")
            return True
        if self.server.poll() is not None:
            log = (self.folder / "pulse.log").read_text(errors="replace")
            raise RuntimeError(f"the virtual sound server ended: {log[-500:]}")
        return False


@contextmanager
def virtual_audio(folder: Path) -> Iterator[VirtualAudio]:
    """Start the sound card in `folder` (kept short: Unix socket paths end at 107 bytes)."""
    env = _prepare(folder)
    server = _serve(folder, env)
    card = VirtualAudio(folder, env, server)
    before = {name: os.environ.get(name) for name in (*env, "DBUS_SESSION_BUS_ADDRESS")}
    os.environ.update(env)
    os.environ.pop("DBUS_SESSION_BUS_ADDRESS", None)
    try:
        card._until(card._answers, "server")
        card.plug(HEADSET)
        card.plug(MICROPHONE)
        card.plug(SPEAKER)
        yield card
    finally:
        server.terminate()
        server.wait(timeout=5)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _prepare(folder: Path) -> dict[str, str]:
    """Create folders and configuration. Return the environment that directs programs to this
    server.
    """
    address = folder / "pulse" / "native"
    if len(str(address)) > 107:
        raise ValueError(f"the folder's path is too long for a socket: {address}")
    for child in ("pulse", "state"):
        (folder / child).mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)
    named = "".join(_ALSA_DEVICE.format(name=name) for name in _MODULES)
    (folder / "asound.conf").write_text(_ALSA + named)
    return {
        "XDG_RUNTIME_DIR": str(folder),
        "PULSE_RUNTIME_PATH": str(folder / "pulse"),
        "PULSE_STATE_PATH": str(folder / "state"),
        "PULSE_SERVER": f"unix:{address}",
        "ALSA_CONFIG_PATH": str(folder / "asound.conf"),
    }


def _serve(folder: Path, env: dict[str, str]) -> "subprocess.Popen[bytes]":
    protocol = f"module-native-protocol-unix auth-anonymous=1 socket={folder}/pulse/native"
    commands = f"module-cli-protocol-unix socket={folder}/pulse/cli"
    command = ["pulseaudio", "-n", f"--load={protocol}", f"--load={commands}"]
    command += ["--daemonize=no", "--exit-idle-time=-1"]
    command += ["--realtime=no", "--high-priority=no", "--use-pid-file=no"]
    command += [f"--log-target=file:{folder}/pulse.log"]
    environment = {**os.environ, **env}
    # without an address it would share one bus with every other server on this display
    environment["DBUS_SESSION_BUS_ADDRESS"] = "disabled:"
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, env=environment, stdin=quiet, stdout=quiet, stderr=quiet)
