"""The output module of speech-dispatcher: its protocol on standard input and output.

    daemon  SPEAK, CHAR, KEY or SOUND_ICON, then lines of text and "."; STOP; PAUSE; LIST VOICES
            SET, AUDIO or LOGLEVEL, then lines of name=value and "."; DEBUG ..; QUIT
    module  a status line for each, and while it speaks: 701 BEGIN, 705 AUDIO with samples,
            700 INDEX MARK, then one of 702 END, 703 STOP, 704 PAUSE

One message is spoken at a time. espeak speaks keys, characters, labels, what is spelt, and whatever
the chosen voice cannot speak: another language or script, a faster rate, names of punctuation and
capitals. It also speaks while the engine process is loading, and the rest of a sentence that the
process does not finish. Invariant: one thread and no waiting, except for the daemon to read; every
message ends with exactly one event; a line that cannot be understood changes nothing.
"""

import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from engine import settings_file
from engine.audio.other_voice import OtherVoice
from engine.errors import EngineError
from engine.languages import ENGLISH
from engine.serve.doors.speech_dispatcher.formant import Formant, Style
from engine.serve.doors.speech_dispatcher.markup import LONGEST, Message, parse
from engine.serve.doors.speech_dispatcher.sentences import Event, Sentences
from engine.tts import voice_catalogue, voices

IDLE_S: Final = 300.0  # without speech, until the engine process ends
LATE_S: Final = 1.0  # for the first samples of a sentence; then espeak speaks it
LABEL_WORDS, LABEL_CHARACTERS = 4, 40  # at most; and no end of a sentence
WORDS_PER_SYLLABLE: Final = 37.0  # words a minute for each syllable a second (espeak/pace.py)
LARGEST_LINE: Final = 4 * LONGEST  # bytes; the rest of a line is dropped
_CHUNK: Final = 4_000  # bytes of samples in one message
_PAUSABLE: Final = "__spd_"  # the daemon's own marks, at which it can go on
_LAST_MARK: Final = _PAUSABLE + "1000000"  # behind the text: nothing is left to go on with
_SPOKEN: Final = frozenset(("SPEAK", "CHAR", "KEY", "SOUND_ICON"))
_RECEIVING: Final = {
    **dict.fromkeys(_SPOKEN, "202 OK RECEIVING MESSAGE"),
    "SET": "203 OK RECEIVING SETTINGS",
    "AUDIO": "207 OK RECEIVING AUDIO SETTINGS",
    "LOGLEVEL": "207 OK RECEIVING LOGLEVEL SETTINGS",
}
_BAD_SYNTAX: Final = "302 ERROR BAD SYNTAX"
_BAD_VALUE: Final = "303 ERROR INVALID PARAMETER OR VALUE"


class Priority(Protocol):
    """Lets the window be silent while this speaks."""

    def hold(self) -> None: ...

    def release(self) -> None: ...


@dataclass
class Utterance:
    """The message that is spoken. `position`: of the word that began last, for espeak to go on
    from; `number`: of its sentence in the engine process, 0 = espeak speaks; `late_at`: when espeak
    speaks instead.
    """

    message: Message
    style: Style
    number: int = 0
    late_at: float = 0.0
    marks: int = 0  # reported so far
    position: int = 0
    pausing: bool = False


class Module:
    """`voices` returns the names of the synthesiser's voices with the code of their language; empty
    if espeak is the chosen synthesiser.
    """

    def __init__(
        self,
        streams: tuple[int, int],
        formant: Formant,
        sentences: Sentences,
        voices: Callable[[], dict[str, str]],
        priority: Priority,
    ) -> None:
        self._input, self._output = streams
        self._formant = formant
        self._sentences = sentences
        self._list = voices
        self._voices = voices()
        self._priority = priority
        self._style = Style()
        self._utterance: Utterance | None = None
        self._buffer = bytearray()
        self._command = ""  # whose lines are being received
        self._lines: list[str] = []
        self._room = LONGEST  # for characters of further lines
        self._over = False
        self._is_open = True  # the input
        self._used_at = time.monotonic()
        self._heard_until = 0.0  # when the samples sent so far have been played

    def run(self) -> None:
        """Serve until QUIT, or until the daemon closes the input."""
        try:
            while not self._over:
                if (line := self._next_line()) is not None:
                    self._on_line(line)
                elif self._is_open or self._utterance is not None:
                    self._wait()
                else:
                    break
        except BrokenPipeError:
            pass  # the daemon has gone
        finally:
            self._sentences.close()
            self._priority.release()

    # ------------------------------------------------------------------------- waiting

    def _wait(self) -> None:
        engine = self._sentences.descriptor
        inputs = [self._input] if self._is_open else []
        inputs += [] if engine is None else [engine]
        readable, _, _ = select.select(inputs, [], [], self._until_next())
        if self._input in readable:
            self._read()
        if engine in readable:
            for event in self._sentences.receive():
                self._on_event(event)
        self._look(time.monotonic())

    def _until_next(self) -> float | None:
        """Return the seconds until _look() has something to do."""
        now, times = time.monotonic(), []
        if self._sentences.descriptor is not None:
            times.append(self._used_at + IDLE_S)
        if self._utterance is not None and self._utterance.late_at:
            times.append(self._utterance.late_at)
        if self._utterance is None and self._heard_until:
            times.append(self._heard_until)
        return max(0.0, min(times) - now) if times else None

    def _look(self, now: float) -> None:
        utterance = self._utterance
        if utterance is not None and utterance.number:
            is_gone = self._sentences.descriptor is None
            if is_gone or (utterance.late_at and now >= utterance.late_at):
                self._sentences.cancel()
                self._speak_rest(utterance)
        if utterance is None and self._heard_until and now >= self._heard_until:
            self._heard_until = 0.0
            self._priority.release()
        if utterance is None and now >= self._used_at + IDLE_S:
            self._sentences.close()

    def _read(self) -> None:
        chunk = os.read(self._input, 1 << 16)
        self._is_open = bool(chunk)
        if len(self._buffer) > LARGEST_LINE and b"\n" not in self._buffer:
            end = chunk.find(b"\n")
            chunk = chunk[end:] if end >= 0 else b""
        self._buffer += chunk

    def _next_line(self) -> str | None:
        """Return the next line that can be handled now: the next message waits for the end of the
        one that is spoken.
        """
        end = self._buffer.find(b"\n")
        if end < 0 or self._over:
            return None
        line = bytes(self._buffer[:end]).decode("utf-8", "replace")
        if self._utterance is not None and not self._command and line in _RECEIVING:
            return None
        del self._buffer[: end + 1]
        return line

    # ------------------------------------------------------------------------ commands

    def _on_line(self, line: str) -> None:
        if not self._command:
            self._on_command(line)
        elif line != ".":
            if self._room > 0:
                self._lines.append(line.removeprefix("."))
                self._room -= len(line) + 1
        else:
            command, lines = self._command, self._lines
            self._command, self._lines = "", []
            if command in _SPOKEN:
                self._on_text(command, "\n".join(lines))
            else:
                self._write(self._on_values(command, lines))

    def _on_command(self, line: str) -> None:
        if line in _RECEIVING:
            self._command, self._room = line, LONGEST
            self._write(_RECEIVING[line])
        elif line == "STOP":
            self._end("703 STOP")
        elif line == "PAUSE":
            if self._utterance is not None:
                self._utterance.pausing = True
        elif line == "INIT":
            self._write("299-Rubato", "299 OK LOADED SUCCESSFULLY")
        elif line.startswith("LIST VOICES"):
            self._list_voices(line.split()[2:])
        elif line.startswith("DEBUG"):
            self._write("200 OK DEBUGGING " + "".join(line.split()[1:2]))
        elif line == "QUIT":
            self._over, self._utterance = True, None
            self._write("210 OK QUIT")
        else:
            self._write("300 ERR UNKNOWN COMMAND")

    def _on_values(self, command: str, lines: list[str]) -> str:
        if not all("=" in line for line in lines):
            return _BAD_SYNTAX
        values = dict(line.split("=", 1) for line in lines)
        if command == "AUDIO":
            is_server = values.get("audio_output_method") == "server"
            return "203 OK AUDIO INITIALIZED" if is_server else _BAD_VALUE
        if command == "SET":
            self._style = styled(self._style, values)
            return "203 OK SETTINGS RECEIVED"
        return "203 OK LOGLEVEL SET"

    def _list_voices(self, wanted: list[str]) -> None:
        self._voices = self._list()
        lines = [
            f"200-{name}\t{language}\tnone"
            for name, language in (self._voices | self._formant.voices()).items()
            if not wanted or wanted[0].lower() in (language.lower(), language.split("-")[0].lower())
        ]
        self._write(*lines, "200 OK VOICE LIST SENT" if lines else "304 CANT LIST VOICES")

    # -------------------------------------------------------------------------- speech

    def _on_text(self, command: str, text: str) -> None:
        message = parse(text) if command == "SPEAK" else Message(_key_text(command, text))
        if not text:
            self._write("301 ERROR CANT SPEAK")
            return
        self._write("200 OK SPEAKING", "701 BEGIN")
        style = self._style
        if command == "CHAR" or (command == "KEY" and len(message.text) == 1):
            message = replace(message, spelt=True)
        self._utterance = utterance = Utterance(message, style)
        self._used_at = time.monotonic()
        if command == "SPEAK" and self._by_voice(message, style):
            utterance.number = self._sentences.ask(_request(message, style, self._voices))
            utterance.late_at = time.monotonic() + LATE_S
        else:
            self._speak_rest(utterance)
        if self._voices:
            self._sentences.start()  # behind the first samples of a key

    def _by_voice(self, message: Message, style: Style) -> bool:
        """Return whether the chosen voice speaks this, not espeak."""
        highest = self._sentences.highest
        if highest is None or style.words_per_minute > highest * WORDS_PER_SYLLABLE:
            return False
        plain = (style.punctuation, style.capitals) == ("none", "none")
        if style.spelling or message.spelt or not plain or is_label(message.text):
            return False
        if style.voice in self._formant.voices():
            return False
        return style.voice in self._voices or _code(style) in self._voices.values()

    def _speak_rest(self, utterance: Utterance) -> None:
        """Let espeak speak the message, or go on from the last word that began."""
        utterance.number, utterance.late_at = 0, 0.0
        names = utterance.message.marks[utterance.marks :]
        rest = replace(utterance.message.rest(utterance.position), marks=())
        marks = tuple((name, max(0, at - utterance.position)) for name, at in names)
        rest = replace(rest, marks=marks)

        def sound(samples: bytes) -> bool:
            if self._utterance is utterance:
                self._send(samples, self._formant.sample_rate)
            return self._goes_on(utterance)

        self._formant.speak(rest, utterance.style, sound, lambda name: self._mark(name, utterance))
        if self._utterance is utterance:
            self._finish(utterance)

    def _goes_on(self, utterance: Utterance) -> bool:
        """Handle the lines that have come; return whether the message is still spoken."""
        while self._utterance is utterance and not self._over:
            if (line := self._next_line()) is not None:
                self._on_line(line)
            elif self._has_input():
                self._read()
            else:
                return True
        return False

    def _has_input(self) -> bool:
        has_room = self._is_open and len(self._buffer) < LARGEST_LINE
        return has_room and bool(select.select([self._input], [], [], 0)[0])

    def _on_event(self, event: Event) -> None:
        utterance = self._utterance
        fields = event.fields
        if utterance is None or not utterance.number or fields.get("number") != utterance.number:
            return  # of an earlier sentence
        utterance.late_at = 0.0
        if "fault" in fields:
            self._speak_rest(utterance)
        elif "ended" in fields:
            self._finish(utterance)
        else:
            self._on_samples(utterance, event)

    def _on_samples(self, utterance: Utterance, event: Event) -> None:
        """Send samples, with the marks in front of the words that begin in them."""
        sent, hertz = 0, event.fields["hertz"]
        for position, sample in event.fields["words"]:
            waiting = utterance.message.marks[utterance.marks :]
            utterance.position = position
            for name in [name for name, at in waiting if at <= position]:
                self._send(event.samples[2 * sent : 2 * sample], hertz)
                sent = max(sent, sample)
                self._mark(name, utterance)
                if self._utterance is not utterance:
                    return
        self._send(event.samples[2 * sent :], hertz)

    def _mark(self, name: str, utterance: Utterance) -> None:
        if self._utterance is not utterance:
            return
        utterance.marks += 1
        self._write(f"700-{name}", "700 INDEX MARK")
        if utterance.pausing and name.startswith(_PAUSABLE):
            self._end("704 PAUSE")

    def _finish(self, utterance: Utterance) -> None:
        """Report the marks that are left, and the end."""
        for name, _ in utterance.message.marks[utterance.marks :]:
            self._mark(name, utterance)
        if utterance.pausing and self._utterance is utterance:
            self._mark(_LAST_MARK, utterance)  # without one, 0.11.4 waits for ever
        if self._utterance is utterance:
            self._end("702 END")

    def _end(self, event: str) -> None:
        """End the message that is spoken, if there is one."""
        utterance, self._utterance = self._utterance, None
        if utterance is None:
            return
        self._write(event)
        if utterance.number and event != "702 END":
            self._sentences.cancel()
        self._used_at = time.monotonic()
        if event != "702 END":
            self._heard_until = self._used_at  # the daemon drops what it has

    # -------------------------------------------------------------------------- output

    def _send(self, samples: bytes, hertz: int) -> None:
        """Send 16-bit samples; line breaks and the escape itself are escaped."""
        if not samples:
            return
        self._priority.hold()
        now = time.monotonic()
        self._heard_until = max(now, self._heard_until) + len(samples) / 2 / hertz
        for at in range(0, len(samples), _CHUNK):
            part = samples[at : at + _CHUNK]
            values = ("bits=16", "num_channels=1", f"sample_rate={hertz}")
            values += (f"num_samples={len(part) // 2}", "big_endian=0")
            head = "".join(f"705-{value}\n" for value in values).encode()
            escaped = part.replace(b"\x7d", b"\x7d\x5d").replace(b"\n", b"\x7d\x2a")
            self._put(head + b"705-AUDIO\0" + escaped + b"\n705 AUDIO\n")

    def _write(self, *lines: str) -> None:
        self._put("".join(f"{line}\n" for line in lines).encode())

    def _put(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._output, view) :]


def serve_daemon() -> None:
    """Serve the daemon that started this process, on its standard input and output."""
    output = os.dup(1)
    os.dup2(2, 1)  # a library may print
    Module((0, output), Formant(), Sentences(), own_voices, OtherVoice()).run()


def own_voices() -> dict[str, str]:
    """Return the voices of the person's synthesiser with their languages; none for espeak."""
    try:
        catalogue = voice_catalogue.usable(
            settings_file.load(settings_file.default_path())[0].speech
        )
    except EngineError:
        return {}
    if catalogue.voice_model == voice_catalogue.ESPEAK:
        return {}
    own = {name: catalogue.languages.get(name, ENGLISH) for name in catalogue.own}
    saved = voices.saved_voices(voices.folder())
    return own | {each.name: each.language for each in saved if each.model == catalogue.voice_model}


def styled(style: Style, values: dict[str, str]) -> Style:
    """Return a style with the values of SET; unknown names and values change nothing."""
    numbers = {key: values.get(key, "") for key in ("rate", "pitch", "pitch_range", "volume")}
    changes: dict[str, Any] = {
        key: max(-100, min(100, int(text)))
        for key, text in numbers.items()
        if text.removeprefix("-").isdecimal() and len(text) < 9
    }
    names = {"punctuation_mode": "punctuation", "cap_let_recogn": "capitals"}
    names |= {"synthesis_voice": "voice", "language": "language"}
    for key, name in names.items():
        if key in values:
            changes[name] = "" if values[key] == "NULL" else values[key].strip()[:200]
    if "spelling_mode" in values:
        changes["spelling"] = values["spelling_mode"] == "on"
    return replace(style, **changes)


def is_label(text: str) -> bool:
    """Return whether a text is a short label, not a sentence."""
    words = text.split()
    is_short = len(words) <= LABEL_WORDS and len(text) <= LABEL_CHARACTERS
    return is_short and not any(word[-1] in ".!?…" for word in words)


def _code(style: Style) -> str:
    return style.language.split("-")[0].lower()


def _key_text(command: str, text: str) -> str:
    """Return what is said for a character, for a key such as shift_a, or for a sound."""
    text = text.replace("\n", " ")[:200]
    if text == "space":
        return " "
    return text if command == "CHAR" or len(text) == 1 else text.replace("_", " ").replace("-", " ")


def _request(message: Message, style: Style, voices: dict[str, str]) -> dict[str, Any]:
    return {
        "text": message.text,
        "voice": style.voice if style.voice in voices else "",
        "language": _code(style),
        "rate": style.words_per_minute / WORDS_PER_SYLLABLE,
        "pitch": style.pitch,
        "volume": (style.volume + 100) / 200,
    }
