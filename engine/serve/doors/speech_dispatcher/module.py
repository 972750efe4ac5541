"""The output module of speech-dispatcher: its protocol on standard input and output.

    daemon  SPEAK, CHAR, KEY or SOUND_ICON, then lines of text and "."; STOP; PAUSE; LIST VOICES
            SET, AUDIO or LOGLEVEL, then lines of name=value and "."; DEBUG ..; QUIT
    module  a status line for each, and while it speaks: 701 BEGIN, 705 AUDIO with samples,
            700 INDEX MARK, then one of 702 END, 703 STOP, 704 PAUSE

One message is spoken at a time. espeak speaks keys, characters, labels, spelt text, and messages
that the chosen voice cannot speak: another language or script, a faster rate, names of punctuation
and capitals. It also speaks while the engine process gets a voice ready, and the rest of a sentence
that the process does not finish. Invariant: one thread, which waits for the daemon only; every
message ends with exactly one event, SETTLE_S after its begin at the earliest; a line that cannot be
understood changes nothing.
"""

import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from engine import settings_file
from engine.audio.other_voice import OtherVoice
from engine.errors import EngineError
from engine.languages import ENGLISH
from engine.names_file import in_force
from engine.serve.doors.speech_dispatcher.formant import Formant
from engine.serve.doors.speech_dispatcher.links import Sentences, Streams
from engine.serve.doors.speech_dispatcher.message import (
    LONGEST,
    Message,
    Style,
    is_label,
    key_text,
    parse,
)
from engine.tts import registry, voices

IDLE_S: Final = 300.0  # without speech, until the engine process ends
# From the begin of a message to its end. An end that follows a cancel within a millisecond finds
# the daemon (0.11.4) still stopping the message before, and then it waits for ever.
SETTLE_S: Final = 0.03
LATE_S: Final = 1.0  # for the first samples of a sentence; then espeak speaks it
STALLED_S: Final = 5.0  # the same for the next ones
WORDS_PER_SYLLABLE: Final = 37.0  # words a minute for each syllable a second (articulation.py)
_PAUSABLE: Final = "__spd_"  # the daemon's own marks, at which it can go on
_LAST_MARK: Final = _PAUSABLE + "1000000"  # behind the text: nothing is left to go on with
_SPOKEN: Final = frozenset(("SPEAK", "CHAR", "KEY", "SOUND_ICON"))
_RECEIVING: Final = {
    **dict.fromkeys(_SPOKEN, "202 OK RECEIVING MESSAGE"),
    "SET": "203 OK RECEIVING SETTINGS",
    "AUDIO": "207 OK RECEIVING AUDIO SETTINGS",
    "LOGLEVEL": "207 OK RECEIVING LOGLEVEL SETTINGS",
}


@dataclass
class Utterance:
    """The message that is spoken. `number`: of its sentence in the engine process, 0 = espeak
    speaks; `late_at`: when espeak speaks instead, 0 = never; `marks`: reported so far; `position`:
    of the word that began last, from which espeak can go on.
    """

    message: Message
    style: Style
    number: int = 0
    late_at: float = 0.0
    marks: int = 0
    position: int = 0
    pausing: bool = False


class Module:
    """`voices` returns the names of the synthesiser's voices with the code of their language; empty
    if espeak is the chosen synthesiser. `window` waits while this speaks.
    """

    def __init__(
        self,
        daemon: Streams,
        formant: Formant,
        sentences: Sentences,
        voices: Callable[[], dict[str, str]],
        window: OtherVoice,
    ) -> None:
        self._daemon = daemon
        self._formant = formant
        self._sentences = sentences
        self._list = voices
        self._voices = voices()
        self._window = window
        self._style = Style()
        self._utterance: Utterance | None = None
        self._command = ""  # whose lines are being received
        self._lines: list[str] = []
        self._room = LONGEST  # for characters of further lines
        self._over = False
        self._warm: set[tuple[str, str]] = set()  # voices and languages that have spoken
        self._is_busy = False  # the engine process, with a voice that has not
        self._used_at = time.monotonic()
        self._heard_until = 0.0  # when the samples sent so far have been played; 0 = they have

    def run(self) -> None:
        """Serve until QUIT, or until the daemon closes the input."""
        try:
            while not self._over:
                if (line := self._next_line()) is not None:
                    self._on_line(line)
                elif self._daemon.is_open or self._utterance is not None:
                    self._wait()
                else:
                    break
        except BrokenPipeError:
            pass  # the daemon has gone
        finally:
            self._sentences.close()
            self._window.release()

    # ------------------------------------------------------------------------- waiting

    def _wait(self) -> None:
        engine = self._sentences.descriptor
        inputs = [self._daemon.source] if self._daemon.is_open else []
        inputs += [] if engine is None else [engine]
        readable, _, _ = select.select(inputs, [], [], self._until_next())
        if self._daemon.source in readable:
            self._daemon.read()
        if engine in readable:
            self._on_event(*self._sentences.receive())
        self._look(time.monotonic())

    def _until_next(self) -> float | None:
        """Return the seconds until _look() has something to do."""
        utterance = self._utterance
        if utterance is not None:
            times = [utterance.late_at]
        else:
            idle_at = self._used_at + IDLE_S if self._sentences.descriptor is not None else 0.0
            times = [self._heard_until, idle_at]
        return max(0.0, min(filter(None, times)) - time.monotonic()) if any(times) else None

    def _look(self, now: float) -> None:
        utterance = self._utterance
        if utterance is not None:
            is_late = 0 < utterance.late_at <= now
            if utterance.number and (is_late or self._sentences.descriptor is None):
                self._sentences.cancel()
                self._is_busy = True
                self._speak_rest(utterance)
            return
        if 0 < self._heard_until <= now:
            self._heard_until = 0.0
            self._window.release()
        if now >= self._used_at + IDLE_S:
            self._sentences.close()

    def _next_line(self) -> str | None:
        """Return the next line that can be handled now: the next message waits for the end of the
        one that is spoken.
        """
        line = self._daemon.peek()
        if self._over or (self._utterance is not None and line in _RECEIVING):
            return None
        if line is not None:
            self._daemon.take()
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
            self._command, self._lines, self._room = "", [], LONGEST
            if command in _SPOKEN:
                self._on_text(command, "\n".join(lines))
            else:
                self._daemon.write(self._on_values(command, lines))

    def _on_command(self, line: str) -> None:
        if line in _RECEIVING:
            self._command = line
            self._daemon.write(_RECEIVING[line])
        elif line == "STOP":
            self._end("703 STOP")
        elif line == "PAUSE":
            if self._utterance is not None:
                self._utterance.pausing = True
        elif line == "INIT":
            self._daemon.write("299-Rubato", "299 OK LOADED SUCCESSFULLY")
        elif line.startswith("LIST VOICES"):
            self._list_voices(line.split()[2:])
        elif line.startswith("DEBUG"):
            self._daemon.write("200 OK DEBUGGING " + "".join(line.split()[1:2]))
        elif line == "QUIT":
            self._over, self._utterance = True, None
            self._daemon.write("210 OK QUIT")
        else:
            self._daemon.write("300 ERR UNKNOWN COMMAND")

    def _on_values(self, command: str, lines: list[str]) -> str:
        if not all("=" in line for line in lines):
            return "302 ERROR BAD SYNTAX"
        values = dict(line.split("=", 1) for line in lines)
        if command == "AUDIO" and values.get("audio_output_method") != "server":
            return "303 ERROR INVALID PARAMETER OR VALUE"
        if command == "SET":
            self._style = self._style.changed(values)
        ends = {"AUDIO": "AUDIO INITIALIZED", "SET": "SETTINGS RECEIVED"}
        return f"203 OK {ends.get(command, 'LOGLEVEL SET')}"

    def _list_voices(self, wanted: list[str]) -> None:
        self._voices = self._list()
        lines = [
            f"200-{name}\t{language}\tnone"
            for name, language in (self._voices | self._formant.voices).items()
            if not wanted or wanted[0].lower() in (language.lower(), language.split("-")[0].lower())
        ]
        self._daemon.write(*lines, "200 OK VOICE LIST SENT" if lines else "304 CANT LIST VOICES")

    # -------------------------------------------------------------------------- speech

    def _on_text(self, command: str, text: str) -> None:
        if not text:
            self._daemon.write("301 ERROR CANT SPEAK")
            return
        self._daemon.write("200 OK SPEAKING", "701 BEGIN")
        message = parse(text) if command == "SPEAK" else Message(key_text(command, text))
        if command == "CHAR" or (command == "KEY" and len(message.text) == 1):
            message = replace(message, spelt=True)
        self._utterance = utterance = Utterance(message, self._style)
        self._used_at = time.monotonic()
        if command == "SPEAK" and self._by_voice(message, self._style):
            self._ask(utterance)
        if not utterance.number:
            self._speak_rest(utterance)
        if self._voices:
            self._sentences.start()  # behind the first samples of a key

    def _ask(self, utterance: Utterance) -> None:
        """Let the voice speak the message. One that has not spoken yet gets ready by it, which
        takes seconds; espeak does not wait for that.
        """
        request = _request(utterance, self._voices)
        number = self._sentences.ask(request)
        self._is_busy |= (request["voice"], request["language"]) not in self._warm
        if not self._is_busy:
            utterance.number, utterance.late_at = number, self._used_at + LATE_S

    def _by_voice(self, message: Message, style: Style) -> bool:
        """Return whether the chosen voice speaks this, not espeak."""
        highest = self._sentences.highest or 0.0
        plain = (style.punctuation, style.capitals, style.spelling) == ("none", "none", False)
        if not plain or message.spelt or is_label(message.text):
            return False
        if style.words_per_minute > highest * WORDS_PER_SYLLABLE:
            return False
        if style.voice in (self._voices | self._formant.voices):
            return style.voice in self._voices
        return style.code in self._voices.values()

    def _speak_rest(self, utterance: Utterance) -> None:
        """Let espeak speak the message, or go on from the last word that began."""
        rest = utterance.message.rest(utterance.position, utterance.marks)
        if not utterance.style.spelling:
            rest = rest.named(in_force(), utterance.style.code)
        utterance.number, utterance.late_at = 0, 0.0

        def sound(samples: bytes) -> bool:
            if self._utterance is utterance:
                self._send(samples, self._formant.sample_rate)
            return self._goes_on(utterance)

        self._formant.speak(rest, utterance.style, sound, lambda name: self._mark(name, utterance))
        self._finish(utterance)

    def _goes_on(self, utterance: Utterance) -> bool:
        """Handle the lines that have come; return whether the message is still spoken."""
        while self._utterance is utterance:
            if (line := self._next_line()) is not None:
                self._on_line(line)
            elif self._daemon.has_input():
                self._daemon.read()
            else:
                return True
        return False

    def _on_event(self, fields: dict[str, Any], samples: bytes) -> None:
        utterance = self._utterance
        if "highest" in fields:
            self._warm, self._is_busy = {("", fields["language"])}, False
        if "words" in fields:
            self._is_busy = False
            self._warm.add((fields["voice"], fields["language"]))
        if utterance is None or not utterance.number or fields.get("number") != utterance.number:
            if "words" in fields and fields["number"] == self._sentences.number:
                self._sentences.cancel()  # it was asked for to get the voice ready
            return
        utterance.late_at = time.monotonic() + STALLED_S
        if "fault" in fields:
            self._speak_rest(utterance)
        elif "ended" in fields:
            self._finish(utterance)
        else:
            self._on_samples(utterance, fields, samples)

    def _on_samples(self, utterance: Utterance, fields: dict[str, Any], samples: bytes) -> None:
        """Send samples, with the marks in front of the words that begin in them."""
        sent = 0
        for position, sample in fields["words"]:
            utterance.position = position
            waiting = utterance.message.marks[utterance.marks :]
            for name in [name for name, at in waiting if at <= position]:
                self._send(samples[2 * sent : 2 * sample], fields["hertz"])
                sent = max(sent, sample)
                self._mark(name, utterance)
                if self._utterance is not utterance:
                    return
        self._send(samples[2 * sent :], fields["hertz"])

    def _mark(self, name: str, utterance: Utterance) -> None:
        if self._utterance is utterance:
            utterance.marks += 1
            self._daemon.write(f"700-{name}", "700 INDEX MARK")
            if utterance.pausing and name.startswith(_PAUSABLE):
                self._end("704 PAUSE")

    def _finish(self, utterance: Utterance) -> None:
        """Report the marks that are left, and the end."""
        for name, _ in utterance.message.marks[utterance.marks :]:
            self._mark(name, utterance)
        if utterance.pausing:
            self._mark(_LAST_MARK, utterance)  # without one, the daemon 0.11.4 waits for ever
        if self._utterance is utterance:
            self._end("702 END")

    def _end(self, event: str) -> None:
        """End the message that is spoken, if there is one."""
        utterance, self._utterance = self._utterance, None
        if utterance is not None:
            if utterance.number and event != "702 END":
                self._sentences.cancel()
            time.sleep(max(0.0, self._used_at + SETTLE_S - time.monotonic()))
            self._daemon.write(event)
            self._used_at = time.monotonic()
            if event != "702 END":
                self._heard_until = self._used_at  # the daemon drops what it has

    def _send(self, samples: bytes, hertz: int) -> None:
        if samples:
            self._window.hold()
            begun = max(time.monotonic(), self._heard_until)
            self._heard_until = begun + len(samples) / 2 / hertz
            self._daemon.send(samples, hertz)


def serve_daemon() -> None:
    """Serve the daemon that started this process, on its standard input and output."""
    output = os.dup(1)
    os.dup2(2, 1)  # a library may print
    Module(Streams(0, output), Formant(), Sentences(), own_voices, OtherVoice()).run()


def own_voices() -> dict[str, str]:
    """Return the voices of the person's synthesiser with their languages; none for espeak."""
    settings, _ = settings_file.load(settings_file.default_path())
    try:
        catalogue = registry.usable(settings.speech)
    except EngineError:
        return {}
    if catalogue.voice_model == registry.ESPEAK:
        return {}
    own = {name: catalogue.languages.get(name, ENGLISH) for name in catalogue.own}
    saved = voices.saved_voices(voices.folder())
    return own | {each.name: each.language for each in saved if each.model == catalogue.voice_model}


def _request(utterance: Utterance, voices: dict[str, str]) -> dict[str, Any]:
    style = utterance.style
    return {
        "text": utterance.message.text,
        "voice": style.voice if style.voice in voices else "",
        "language": style.code,
        "rate": style.words_per_minute / WORDS_PER_SYLLABLE,
        "pitch": style.pitch,
        "volume": (style.volume + 100) / 200,
    }
