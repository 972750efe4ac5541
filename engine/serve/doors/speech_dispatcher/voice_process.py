"""The engine process of the module: speaks one sentence after the other in the chosen voice.

    module   {"number", "text", "voice", "language", "rate", "pitch", "volume"}; {} to be silent
    process  {"highest", "language"} once the person's voice is loaded
             {"number", "voice", "language", "words": [[position, sample], ...], "hertz"} with
             samples
             {"number", "ended"}, or {"number", "fault"} if espeak has to speak it

It ends with the module, and when other settings of the voice are in force: the next one reads them.
"""

import json
import logging
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any, Final

import numpy as np

from engine import settings_file
from engine.audio.limiter import Limiter
from engine.errors import EngineError, InvalidInput
from engine.names_file import in_force
from engine.runtime.factories import Factories, standard_factories
from engine.runtime.headless.say_command import load_synthesiser
from engine.serve.voices import ServedVoices
from engine.settings import Settings, SpeechSettings
from engine.text.names.replacing import NamedWords
from engine.text.speakable import LEFT_OUT, Speakable
from engine.text.word import Word
from engine.tts.base import AudioFrame, Finished, Pcm, TtsModel, Voice

log = logging.getLogger(__name__)

OWN_RATE: Final = 5.0  # syllables a second of a voice that follows no rate
GAIN: Final = 2.0  # Kokoro then has espeak's loudness: a mean square of 5,300 on one sentence
SEMITONES: Final = 6  # of a pitch of 100
_PIECE: Final = 300  # characters that are read at once
# The text is not Markdown, stage directions or tags: each sign becomes a space or a pause, so that
# positions stay.
_PLAIN: Final = str.maketrans("*_`#|~<>\\[({\n\r\t])}", " " * 15 + ",,,")


class VoiceProcess:
    """Serves the module at the other end of a connection. `settings`: the settings in force."""

    def __init__(
        self, module: Connection, settings: Callable[[], Settings], factories: Factories
    ) -> None:
        self._module = module
        self._settings = settings
        self._factories = factories

    def run(self) -> None:
        """Serve until the module closes the connection, or until other settings are in force.
        ModelError if no voice can be loaded.
        """
        speech = self._settings().speech
        model = load_synthesiser(speech, self._factories)
        try:
            voices = ServedVoices(speech)
            voices.begin(model)
            rates = model.info.rate_range
            own = voices.find(model, "").language
            self._send({"highest": rates.highest if rates else OWN_RATE, "language": own})
            while request := self._request(speech):
                self._answer(model, voices, request)
        except (EOFError, ConnectionError):
            pass
        finally:
            model.close()

    def _request(self, speech: SpeechSettings) -> dict[str, Any]:
        """Wait for the next sentence; empty if other settings are in force."""
        request: dict[str, Any] = {}
        while not request or self._module.poll():  # the last one counts
            request = json.loads(self._module.recv_bytes())
        now = self._settings().speech
        return request if replace(now, rate=None) == replace(speech, rate=None) else {}

    def _answer(self, model: TtsModel, voices: ServedVoices, request: dict[str, Any]) -> None:
        about = {"number": request["number"]}
        try:
            voice = voices.find(model, request["voice"], request["language"])
            if self._speak(model, voice, request):
                self._send({**about, "ended": True})
        except EngineError as error:
            log.warning("espeak speaks a sentence: %s", error)
            self._send({**about, "fault": type(error).__name__})

    def _speak(self, model: TtsModel, voice: Voice, request: dict[str, Any]) -> bool:
        """Speak a sentence; return False if the module sent something else before its end.
        InvalidInput for a script that the voice cannot say.
        """
        text = request["text"].translate(_PLAIN)
        raised = 2 ** (request["pitch"] / 100 * SEMITONES / 12)  # the pitch, by playing it faster
        about = {name: request[name] for name in ("number", "voice", "language")}
        about["hertz"] = round(model.info.sample_rate * raised)
        limiter = Limiter(model.info.sample_rate)
        speakable, words, at = Speakable(voice.language), list[Word](), 0
        named = NamedWords(in_force(), voice.language)
        with model.open(voice, seed=0) as session:
            session.rate = request["rate"] / raised
            while not self._module.poll():
                step = session.step()
                if isinstance(step, AudioFrame):
                    begun = [(words[on.word].start, on.sample - step.sample) for on in step.onsets]
                    loud = limiter.limit(step.pcm * GAIN, step.sample) * request["volume"]
                    self._send({**about, "words": begun}, _sixteen_bits(loud))
                elif isinstance(step, Finished):
                    return True
                else:
                    new = named.push(speakable.push(text[at : at + _PIECE]))
                    at += _PIECE
                    if at >= len(text):
                        new += [*named.push(speakable.end()), *named.end()]
                    if speakable.left_out:
                        raise InvalidInput(LEFT_OUT)
                    for word in new:
                        session.push_word(word.spoken)
                    if at >= len(text):
                        session.end_input()
                    words += new
        return False

    def _send(self, fields: dict[str, Any], samples: bytes = b"") -> None:
        self._module.send_bytes(json.dumps(fields).encode() + b"\n" + samples)


def _sixteen_bits(pcm: Pcm) -> bytes:
    return np.rint(np.clip(pcm, -1, 1) * 32_767).astype("<i2").tobytes()


def main() -> None:
    """Serve the module at the other end of the standard input."""
    logging.basicConfig(level=logging.WARNING)
    path = settings_file.default_path()
    with Connection(os.dup(0)) as module:
        try:
            VoiceProcess(module, lambda: settings_file.load(path)[0], standard_factories()).run()
        except EngineError as error:
            sys.exit(f"rubato: {error.message}")


if __name__ == "__main__":
    main()
