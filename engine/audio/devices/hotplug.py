"""List the devices, and notice devices that are plugged in or pulled out while the program runs.

poll() never waits and costs microseconds. A child process makes the list, because PortAudio cannot
update its list while a stream is open in this process.

Limits:
- Linux: each poll checks the kernel's sound nodes (/dev/snd) and the sound server's socket, 17 us
  in all; a child is started only when they change (0.4 s of processor time). Devices that exist
  only inside PipeWire or PulseAudio (Bluetooth, network) are not reported: PortAudio sees one
  device 'default', and the server itself moves the sound elsewhere.
- Windows and macOS have no check as cheap that Python can reach without a dependency. A child is
  started once a minute (under 1 % of a core), so a new device may take that long to appear. The
  loss of a device *in use* is noticed by its stream. Not tried on either system.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from engine.audio.devices.portaudio import Devices

_CHILD = (
    "import json; from engine.audio.devices.portaudio import devices; found = devices();"
    "print(json.dumps([found.microphones, found.loudspeakers]))"
)
_BLIND_INTERVAL_S = 60.0
_CHILD_TIMEOUT_S = 20.0
_LONGEST_LIST = 1 << 20  # bytes


class DeviceWatch:
    """Call poll() about once a second, from one thread; close() when done.

    `fingerprint` returns a value that changes when devices do; `enumerate_devices` lists them.
    """

    def __init__(
        self,
        fingerprint: Callable[[], object] | None = None,
        enumerate_devices: Callable[[], "Enumeration"] | None = None,
    ) -> None:
        self._fingerprint = fingerprint or _fingerprint
        self._enumerate = enumerate_devices or Enumeration
        self._seen: object = None  # nothing yet, so the first poll lists the devices
        self._running: Enumeration | None = None
        self._last: Devices | None = None

    def poll(self) -> Devices | None:
        """Return the devices at first, and again after each change; otherwise None."""
        fingerprint = self._fingerprint()
        if fingerprint != self._seen:
            self._seen = fingerprint
            self.close()  # the list in the making may already be out of date
            self._running = self._enumerate()
        if self._running is None or not self._running.done():
            return None
        names = self._running.result()
        self._running = None
        if names is None or names == self._last:
            return None
        self._last = names
        return names

    def close(self) -> None:
        if self._running is not None:
            self._running.cancel()
            self._running = None


class Enumeration:
    """One list of the devices, made by a short-lived child process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        root = str(Path(__file__).parents[3])
        path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
        self._clock = clock
        self._started_at = clock()
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-c", _CHILD],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # sound drivers print a lot
            env={**os.environ, "PYTHONPATH": path},
        )

    def done(self) -> bool:
        """Return whether result() is ready; kill a child that hangs in a driver."""
        if self._clock() - self._started_at > _CHILD_TIMEOUT_S:
            self._child.kill()
            self._child.wait()
        return self._child.poll() is not None

    def result(self) -> Devices | None:
        """Return the list, or None if the child could not make one."""
        assert self._child.stdout is not None
        with self._child.stdout as stdout:
            text = stdout.read(_LONGEST_LIST)
        if self._child.returncode != 0:
            return None
        microphones, loudspeakers = json.loads(text)
        return Devices(tuple(microphones), tuple(loudspeakers))

    def cancel(self) -> None:
        self._child.kill()
        with self._child:  # waits for it, and closes its output
            pass


def _fingerprint() -> object:
    """Return the sound nodes of the kernel and the socket of the sound server; on other systems
    than Linux a number that changes every minute.
    """
    if not sys.platform.startswith("linux"):
        return int(time.monotonic() / _BLIND_INTERVAL_S)
    try:
        nodes = tuple(sorted(os.listdir("/dev/snd")))  # noqa: PTH208  half the cost of iterdir
    except OSError:
        nodes = ()
    socket = os.environ.get("XDG_RUNTIME_DIR", "") + "/pulse/native"
    if (address := os.environ.get("PULSE_SERVER", "")).startswith("unix:"):
        socket = address.removeprefix("unix:")
    try:
        return nodes, os.stat(socket).st_ino  # noqa: PTH116  as above; a restart changes it
    except OSError:
        return nodes, 0
