"""The daemon's end of the module: lines in, lines and samples out. Input of any kind is bounded."""

import os
import select
from typing import Final

LARGEST_LINE: Final = 400_000  # bytes; the rest of a line is dropped
_CHUNK: Final = 4_000  # bytes of samples in one message


class Streams:
    """The two descriptors that the daemon reads and writes. `is_open`: it has not closed ours."""

    def __init__(self, source: int, target: int) -> None:
        self.source = source
        self.is_open = True
        self._target = target
        self._buffer = bytearray()

    def read(self) -> None:
        """Read what has come, after select()."""
        chunk = os.read(self.source, 1 << 16)
        self.is_open = bool(chunk)
        if len(self._buffer) > LARGEST_LINE and b"\n" not in self._buffer:
            end = chunk.find(b"\n")
            chunk = chunk[end:] if end >= 0 else b""
        self._buffer += chunk

    def has_input(self) -> bool:
        """Return whether read() would not wait, and has room."""
        has_room = self.is_open and len(self._buffer) < LARGEST_LINE
        return has_room and bool(select.select([self.source], [], [], 0)[0])

    def peek(self) -> str | None:
        """Return the next line without taking it; None if there is none yet."""
        end = self._buffer.find(b"\n")
        return bytes(self._buffer[:end]).decode("utf-8", "replace") if end >= 0 else None

    def take(self) -> None:
        """Remove the next line."""
        del self._buffer[: self._buffer.find(b"\n") + 1]

    def write(self, *lines: str) -> None:
        self._put("".join(f"{line}\n" for line in lines).encode())

    def send(self, samples: bytes, hertz: int) -> None:
        """Send 16-bit samples. Line breaks and the escape itself are escaped."""
        for at in range(0, len(samples), _CHUNK):
            part = samples[at : at + _CHUNK]
            values = {"bits": 16, "num_channels": 1, "sample_rate": hertz}
            values |= {"num_samples": len(part) // 2, "big_endian": 0}
            head = "".join(f"705-{name}={value}\n" for name, value in values.items()).encode()
            escaped = part.replace(b"\x7d", b"\x7d\x5d").replace(b"\n", b"\x7d\x2a")
            self._put(head + b"705-AUDIO\0" + escaped + b"\n705 AUDIO\n")

    def _put(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._target, view) :]
