"""The engine process of the module: speaks one sentence after the other in the chosen voice.

    module   {"number", "text", "voice", "language", "rate", "pitch", "volume"}; {} to be silent
    process  {"highest"} once the voice is loaded
             {"number", "words": [[position, sample], ...], "hertz", "bytes"} and samples
             {"number", "ended"}, or {"number", "fault"} if espeak has to speak it

It ends with the module, and when other settings of the voice are in force: the next one reads them.
"""

import json
import logging
import os
import select
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from engine import settings_file
from engine.errors import EngineError, InvalidInput
from engine.runtime.factories import Factories, standard_factories
from engine.runtime.headless.say_command import load_synthesiser
from engine.serve.voices import ServedVoices
from engine.settings import Settings, SpeechSettings
from engine.text.speakable import LEFT_OUT, Speakable
from engine.text.word import Word
from engine.tts.base import AudioFrame, Finished, Pcm, TtsModel, TtsSession, Voice

log = logging.getLogger(__name__)

SEMITONES: Final = 6  # of a pitch of 100
OWN_RATE: Final = 5.0  # syllables a second of a voice that follows no rate
_PIECE: Final = 300  # characters that are read at once
# The text is not Markdown, stage directions or tags: each sign becomes a space or a pause, so that
# positions stay.
_PLAIN: Final = str.maketrans("*_`#|~<>\\[({\n\r\t])}", " " * 15 + ",,,")


class Ended(Exception):
    """The module closed its socket, or other settings are in force."""


class VoiceProcess:
    """Serves the module at the other end of a socket. `settings`: the settings in force."""

    def __init__(
        self, module: socket.socket, settings: Callable[[], Settings], factories: Factories
    ) -> None:
        self._module = module
        self._settings = settings
        self._factories = factories
        self._lines = b""

    def run(self) -> None:
        """Serve until the module closes its socket. ModelError if no voice can be loaded."""
        speech = self._settings().speech
        model = load_synthesiser(speech, self._factories)
        try:
            voices = ServedVoices(speech)
            voices.begin(model)
            rates = model.info.rate_range
            self._send({"highest": rates.highest if rates else OWN_RATE})
            while True:
                self._answer(model, voices, self._request(speech))
        except (Ended, ConnectionError):
            pass
        finally:
            model.close()

    def _request(self, speech: SpeechSettings) -> dict[str, Any]:
        """Wait for the next sentence."""
        while True:
            while b"\n" not in self._lines:
                self._receive()
            line, _, self._lines = self._lines.rpartition(b"\n")  # the last one counts
            if request := json.loads(line.rpartition(b"\n")[2]):
                if replace(self._settings().speech, rate=None) != replace(speech, rate=None):
                    raise Ended
                return dict(request)

    def _answer(self, model: TtsModel, voices: ServedVoices, request: dict[str, Any]) -> None:
        number = request["number"]
        try:
            voice = voices.find(model, request["voice"], request["language"])
            self._speak(model, voice, request)
        except EngineError as error:
            log.warning("espeak speaks a sentence: %s", error)
            self._send({"number": number, "fault": type(error).__name__})

    def _speak(self, model: TtsModel, voice: Voice, request: dict[str, Any]) -> None:
        """Speak a sentence until its end, or until the module sends another line."""
        number, text = request["number"], request["text"].translate(_PLAIN)
        raised = 2 ** (request["pitch"] / 100 * SEMITONES / 12)  # the pitch, by playing it faster
        hertz = round(model.info.sample_rate * raised)
        speakable, at, words = Speakable(voice.language), 0, list[Word]()
        with model.open(voice, seed=0) as session:
            session.rate = request["rate"] / raised
            while not self._has_news():
                step = session.step()
                if isinstance(step, AudioFrame):
                    begun = [(words[on.word].start, on.sample - step.sample) for on in step.onsets]
                    about = {"number": number, "words": begun, "hertz": hertz}
                    self._send(about, _sixteen_bits(step.pcm * request["volume"]))
                elif isinstance(step, Finished):
                    self._send({"number": number, "ended": True})
                    return
                else:
                    new = speakable.push(text[at : at + _PIECE])
                    new += speakable.end() if at >= len(text) else []
                    _push(session, speakable, new, ended=at >= len(text))
                    at, words = at + _PIECE, words + new

    def _has_news(self) -> bool:
        readable, _, _ = select.select([self._module], [], [], 0)
        if readable:
            self._receive()
        return b"\n" in self._lines

    def _receive(self) -> None:
        chunk = self._module.recv(1 << 16)
        if not chunk:
            raise Ended
        self._lines += chunk

    def _send(self, fields: dict[str, Any], samples: bytes = b"") -> None:
        line = json.dumps({**fields, "bytes": len(samples)} if samples else fields)
        self._module.sendall(line.encode() + b"\n" + samples)


def _push(session: TtsSession, speakable: Speakable, words: list[Word], *, ended: bool) -> None:
    """Push words at an even pace. InvalidInput for a script that the voice cannot say."""
    if speakable.left_out:
        raise InvalidInput(LEFT_OUT)
    for word in words:
        session.push_word(word.text)
    if ended:
        session.end_input()


def _sixteen_bits(pcm: Pcm) -> bytes:
    return np.rint(np.clip(pcm, -1, 1) * 32_767).astype("<i2").tobytes()


def main() -> None:
    """Serve the module at the other end of the standard input."""
    logging.basicConfig(level=logging.WARNING)
    path = settings_file.default_path()
    with socket.socket(fileno=os.dup(0)) as module:
        try:
            VoiceProcess(module, lambda: settings_file.load(path)[0], standard_factories()).run()
        except EngineError as error:
            sys.exit(f"rubato: {error.message}")


if __name__ == "__main__":
    main()
