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
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any, Final

import numpy as np

from engine import settings_file
from engine.audio.finishing import Limiter
from engine.errors import EngineError, InvalidInput
from engine.names_file import in_force
from engine.runtime.factories import Factories, standard_factories
from engine.runtime.headless.say_command import load_synthesiser
from engine.serve.voices import ServedVoices
from engine.settings import Settings, SpeechSettings
from engine.text.names import NamedWords
from engine.text.speakable import LEFT_OUT, Speakable
from engine.text.word import Word
from engine.tts.base import AudioFrame, Finished, TtsModel, Voice

log = logging.getLogger(__name__)

OWN_RATE: Final = 5.0  # syllables a second of a voice that follows no rate
GAIN: Final = 2.0  # Kokoro then has espeak's loudness: a mean square of 5,300 on one sentence
SEMITONES: Final = 6  # of a pitch of 100
# Seconds of speech that are made before they sound. Most sentences of a screen reader are cut
# short: more would be made in vain, and the next sentence would wait for a step that still runs.
AHEAD_S: Final = 0.75
QUIET: Final = 0.004  # -48 dB; fainter sound before the first word is not sent
_PIECE: Final = 300  # characters that are read at once
# The text is not Markdown, stage directions or tags: each sign becomes a space or a pause, so that
# positions stay.
_PLAIN: Final = str.maketrans("*_`#|~<>\\[({\n\r\t])}", " " * 15 + ",,,")


class VoiceProcess:
    """Serves the module at the other end of a connection. `settings`: the settings in force."""

    def __init__(
        self,
        module: Connection,
        settings: Callable[[], Settings],
        factories: Factories,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._module = module
        self._settings = settings
        self._factories = factories
        self._clock = clock

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
        raised = 2 ** (request["pitch"] / 100 * SEMITONES / 12)  # the pitch, by playing it faster
        about = {name: request[name] for name in ("number", "voice", "language")}
        about["hertz"] = round(model.info.sample_rate * raised)
        limiter = Limiter(model.info.sample_rate)
        pieces, words = _read(request["text"].translate(_PLAIN), voice.language), list[Word]()
        sounds_until = 0.0  # when the samples sent so far have been played; 0 = none were sent
        with model.open(voice, seed=0) as session:
            session.rate = request["rate"] / raised
            while not self._module.poll(max(0.0, sounds_until - AHEAD_S - self._clock())):
                step = session.step()
                if isinstance(step, AudioFrame):
                    pcm = limiter.limit(step.pcm * GAIN, step.sample)
                    if not sounds_until:  # from the first sample that is heard, if one is
                        pcm = pcm[int(np.append(np.abs(pcm) > QUIET, True).argmax()) :]
                    start = step.sample + len(step.pcm) - len(pcm)
                    begun = [
                        (words[on.word].start, max(0, on.sample - start)) for on in step.onsets
                    ]
                    loud = np.clip(pcm * request["volume"], -1, 1)
                    samples = np.rint(loud * 32_767).astype("<i2").tobytes()
                    self._send({**about, "words": begun}, samples)
                    if len(pcm):
                        begin = max(sounds_until, self._clock())
                        sounds_until = begin + len(pcm) / about["hertz"]
                elif isinstance(step, Finished):
                    return True
                else:
                    new, ended = next(pieces)
                    for word in new:
                        session.push_word(word.spoken)
                    if ended:
                        session.end_input()
                    words += new
        return False

    def _send(self, fields: dict[str, Any], samples: bytes = b"") -> None:
        self._module.send_bytes(json.dumps(fields).encode() + b"\n" + samples)


def _read(text: str, language: str) -> Iterator[tuple[list[Word], bool]]:
    """Yield the words of a text piece by piece, and whether they are the last ones. InvalidInput
    for a script that the language does not have.
    """
    speakable, named = Speakable(language), NamedWords(in_force(), language)
    for end in range(_PIECE, max(1, len(text)) + _PIECE, _PIECE):
        new = named.push(speakable.push(text[end - _PIECE : end]))
        if ended := end >= len(text):
            new += [*named.push(speakable.end()), *named.end()]
        if speakable.left_out:
            raise InvalidInput(LEFT_OUT)
        yield new, ended


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
