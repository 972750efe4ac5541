"""speech-dispatcher's side of a module's pipes, for tests, and what speaks behind the module."""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, ClassVar

from engine.serve.doors.speech_dispatcher.links import Sentences, Streams
from engine.serve.doors.speech_dispatcher.message import Message, Style
from engine.serve.doors.speech_dispatcher.module import Module

VOICE = (sys.executable, "-I", "-S", str(Path(__file__).with_name("fake_voice.py")))
VOICES = {"Heart": "en", "Sylvie": "fr"}
SENTENCE = "This is a sentence for the chosen voice."
FORMANT_RATE, VOICE_RATE = 22_050, 24_000


class FakeFormant:
    """Every character is 10 ms of sound."""

    sample_rate = FORMANT_RATE
    voices: ClassVar = {"English (America)": "en-us", "Deutsch": "de"}

    def __init__(self) -> None:
        self.spoken: list[tuple[Message, Style]] = []

    def speak(
        self,
        message: Message,
        style: Style,
        sound: Callable[[bytes], bool],
        mark: Callable[[str], None],
    ) -> None:
        self.spoken.append((message, style))
        marks = list(message.marks)
        for at, _ in enumerate(message.text):
            while marks and marks[0][1] <= at:
                mark(marks.pop(0)[0])
            if not sound(b"\x0a\x7d" * (FORMANT_RATE // 100)):
                return
        for name, _ in marks:
            mark(name)


class FakePriority:
    def __init__(self) -> None:
        self.is_held = False

    def hold(self) -> None:
        self.is_held = True

    def release(self) -> None:
        self.is_held = False


@dataclass
class Heard:
    """A message as the daemon got it. `marks`: name, and samples before it."""

    end: str = ""
    samples: int = 0
    rate: int = 0
    marks: list[tuple[str, int]] = field(default_factory=list)
    bad_samples: int = 0


class Daemon:
    """Writes requests, reads answers and events."""

    def __init__(self, to_module: int, from_module: int) -> None:
        self._to = to_module
        self._from: BinaryIO = os.fdopen(from_module, "rb")

    def send(self, text: str | bytes) -> None:
        data = text.encode() if isinstance(text, str) else text
        while data:
            data = data[os.write(self._to, data) :]

    def reply(self) -> list[bytes]:
        """Read lines until the last one of an answer or event."""
        lines = [self._from.readline()]
        while lines[-1][3:4] == b"-":
            lines.append(self._from.readline())
        return lines

    def ask(self, line: str) -> list[str]:
        self.send(line + "\n")
        return [each.decode().rstrip("\n") for each in self.reply()]

    def tell(self, command: str, *lines: str) -> str:
        """Send a command with lines; return the last answer."""
        self.ask(command)
        return self.ask("\n".join((*lines, ".")))[-1]

    def begin(self, text: str, command: str = "SPEAK") -> None:
        assert self.tell(command, text) == "200 OK SPEAKING"
        assert self.reply() == [b"701 BEGIN\n"]

    def until_end(
        self, heard: Heard | None = None, stop_after: float | None = None, stop: str = "STOP\n"
    ) -> Heard:
        """Read events up to the last one; `stop` is sent after so many samples."""
        heard = heard or Heard()
        while not heard.end:
            lines = self.reply()
            assert lines[0], "the module has ended"
            self._note(heard, lines)
            if stop_after is not None and heard.samples >= stop_after:
                self.send(stop)
                stop_after = None
        return heard

    def speak(self, text: str, command: str = "SPEAK") -> Heard:
        self.begin(text, command)
        return self.until_end()

    def close(self) -> None:
        os.close(self._to)

    def end(self) -> None:
        self._from.close()

    @staticmethod
    def _note(heard: Heard, lines: list[bytes]) -> None:
        code = lines[-1][:3]
        if code == b"705":
            values = dict(line[4:-1].split(b"=") for line in lines[:5])
            escaped = b"".join(lines[5:-1])[len(b"705-AUDIO\0") : -1]
            samples = escaped.replace(b"\x7d\x2a", b"\n").replace(b"\x7d\x5d", b"\x7d")
            heard.rate = int(values[b"sample_rate"])
            heard.samples += int(values[b"num_samples"])
            heard.bad_samples += int(len(samples) != 2 * int(values[b"num_samples"]))
        elif code == b"700":
            heard.marks.append((lines[0][4:-1].decode(), heard.samples))
        else:
            assert code in (b"702", b"703", b"704"), lines
            heard.end = lines[-1].decode().strip()


@dataclass
class Machine:
    daemon: Daemon
    formant: FakeFormant
    sentences: Sentences
    priority: FakePriority
    streams: Streams

    def load(self) -> None:
        """Wait until the voice process speaks."""
        for _ in range(2_000):
            if self.daemon.speak(SENTENCE).rate == VOICE_RATE:
                break
        else:
            raise AssertionError("the voice process never spoke")
        self.formant.spoken.clear()


@contextmanager
def machine(voices: dict[str, str] = VOICES) -> Iterator[Machine]:
    """A module on a thread of its own, initialised as the daemon does it."""
    (inner, to_module), (from_module, outer) = os.pipe(), os.pipe()
    formant, sentences, priority = FakeFormant(), Sentences(VOICE), FakePriority()
    streams = Streams(inner, outer)
    module = Module(streams, formant, sentences, lambda: voices, priority)  # type: ignore[arg-type]
    thread = threading.Thread(target=module.run, name="module")
    thread.start()
    daemon = Daemon(to_module, from_module)
    try:
        assert daemon.ask("INIT")[-1] == "299 OK LOADED SUCCESSFULLY"
        assert daemon.tell("AUDIO", "audio_output_method=server") == "203 OK AUDIO INITIALIZED"
        daemon.tell("SET", "rate=0", "language=en-US", "synthesis_voice=NULL", "volume=100")
        yield Machine(daemon, formant, sentences, priority, streams)
    finally:
        daemon.close()
        daemon.end()
        thread.join()
        os.close(inner)
        os.close(outer)
