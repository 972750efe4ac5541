"""espeak for the module: every language of its data, in its own process, without numpy.

engine/tts/espeak has the formant voices of the window: English, word by word, at a steady rate.
Here the text is complete, the first sample counts, and espeak does the rest: languages, spelling,
names of punctuation, capitals and marks.
"""

import ctypes
from collections.abc import Callable, Iterator
from html import escape
from typing import Any, Final

from engine.serve.doors.speech_dispatcher.message import Message, Style

_CHUNK_MS: Final = 40  # of sound; a cancelled text ends within one
_SYNCHRONOUS, _DONT_EXIT, _UTF8, _SSML = 2, 1 << 15, 1, 0x10
_RATE, _VOLUME, _PITCH, _RANGE, _PUNCTUATION, _CAPITALS = 1, 2, 3, 4, 5, 6
_LAST, _MARK = 0, 3  # types of events
_NAMED: Final = {"none": 0, "all": 1, "some": 2, "most": 2}  # which punctuation is named
_CAPITAL: Final = {"none": 0, "spell": 2, "icon": 30}  # nothing, the word "capital", a higher pitch


class _EventId(ctypes.Union):
    _fields_ = (("number", ctypes.c_int), ("name", ctypes.c_char_p), ("string", ctypes.c_char * 8))


class _Event(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int) for name in ("type", "identifier", "position", "length")),
        *((name, ctypes.c_int) for name in ("audio_ms", "sample")),
        ("user_data", ctypes.c_void_p),
        ("id", _EventId),
    )


class _Voice(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_char_p) for name in ("name", "languages", "identifier")),
        *((name, ctypes.c_ubyte) for name in ("gender", "age", "variant", "xx")),
        ("score", ctypes.c_int),
        ("spare", ctypes.c_void_p),
    )


_CALLBACK: Final = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_char), ctypes.c_int, ctypes.POINTER(_Event)
)
Sound = Callable[[bytes], bool]  # gets 16-bit samples; False ends the speech
Mark = Callable[[str], None]


class Formant:
    """libespeak-ng, one text at a time. `voices`: the language of each, by name. OSError or
    ImportError if it cannot be loaded.
    """

    def __init__(self) -> None:
        import espeakng_loader

        self._library: Any = ctypes.CDLL(espeakng_loader.get_library_path())
        self._library.espeak_ListVoices.restype = ctypes.POINTER(ctypes.POINTER(_Voice))
        self._library.espeak_SetSynthCallback.restype = None
        self._library.espeak_Synth.argtypes = (
            *(ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint, ctypes.c_int),
            *(ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p),
        )
        data = espeakng_loader.get_data_path().encode()
        self.sample_rate = int(
            self._library.espeak_Initialize(_SYNCHRONOUS, _CHUNK_MS, data, _DONT_EXIT)
        )
        if self.sample_rate <= 0:
            raise OSError("espeak-ng's data cannot be read")
        self._callback = _CALLBACK(self._collect)  # must outlive its use by the library
        self._library.espeak_SetSynthCallback(self._callback)
        self.voices = dict(self._listed())
        self._sound: Sound = lambda samples: False
        self._mark: Mark = lambda name: None
        self._names: list[str] = []  # of the marks
        self._reported = 0  # marks
        self._sent = 0  # samples
        self._stopped = False
        self._chosen: tuple[str, str] | None = None  # voice and language
        self.speak(Message("a"), Style(), lambda samples: False, self._mark)  # the first is slow

    def speak(self, message: Message, style: Style, sound: Sound, mark: Mark) -> None:
        """Speak until the end, or until `sound` returns False; `mark` is called between samples."""
        self._set(style)
        self._sound, self._mark, self._stopped = sound, mark, False
        self._names = [name for name, _ in message.marks]
        self._sent = self._reported = at = 0
        parts = []
        for number, (_, position) in enumerate(message.marks):
            parts.append(escape(message.text[at:position]) + f'<mark name="{number}"/>')
            at = position
        text = "".join(parts) + escape(message.text[at:])
        if style.spelling or message.spelt:
            kind = "tts:char" if len(message.text) == 1 else "characters"
            text = f'<say-as interpret-as="{kind}">{text}</say-as>'
        encoded = f"<speak>{text}</speak>".encode()
        self._library.espeak_Synth(encoded, len(encoded) + 1, 0, 1, 0, _UTF8 | _SSML, None, None)
        self._report_until(len(self._names))

    def _listed(self) -> Iterator[tuple[str, str]]:
        listed, at = self._library.espeak_ListVoices(None), 0
        while listed[at]:
            each = listed[at].contents  # its languages begin with a priority
            yield each.name.decode(errors="replace"), each.languages[1:].decode(errors="replace")
            at += 1

    def _collect(self, wave: Any, count: int, events: Any) -> int:  # Any: ctypes pointers
        """Pass on samples and marks in their order. The result 1 ends the synthesis."""
        if self._stopped:
            return 1
        samples = wave[: 2 * count] if wave and count > 0 else b""
        start, at = self._sent, 0
        while events[at].type != _LAST and not self._stopped:
            if events[at].type == _MARK and (name := events[at].id.name or b"").isdigit():
                self._emit(samples, start, events[at].sample)
                self._report_until(int(name) + 1)
            at += 1
        self._emit(samples, start, start + len(samples) // 2)
        return int(self._stopped)

    def _emit(self, samples: bytes, start: int, until: int) -> None:
        part = samples[2 * (self._sent - start) : 2 * max(0, until - start)]
        if part and not self._stopped:
            self._sent += len(part) // 2
            self._stopped = not self._sound(part)

    def _report_until(self, end: int) -> None:
        while self._reported < min(end, len(self._names)) and not self._stopped:
            self._reported += 1
            self._mark(self._names[self._reported - 1])

    def _set(self, style: Style) -> None:
        self._choose(style.voice, style.language.lower())
        values = {
            _RATE: style.words_per_minute,
            _VOLUME: style.volume + 100,
            _PITCH: (style.pitch + 100) // 2,
            _RANGE: (style.pitch_range + 100) // 2,
            _PUNCTUATION: _NAMED.get(style.punctuation, 0),
            _CAPITALS: _CAPITAL.get(style.capitals, 0),
        }
        for parameter, value in values.items():
            self._library.espeak_SetParameter(parameter, value, 0)

    def _choose(self, voice: str, language: str) -> None:
        """Select a voice by its name, else by its language, else English."""
        if (voice, language) == self._chosen:
            return
        self._chosen = (voice, language)
        if voice and self._library.espeak_SetVoiceByName(voice.encode()) == 0:
            return
        for each in (language, language.split("-")[0], "en"):
            wanted = _Voice(languages=each.encode())
            if each and self._library.espeak_SetVoiceByProperties(ctypes.byref(wanted)) == 0:
                return
