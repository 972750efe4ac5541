"""The one place that talks to libespeak-ng: text in, samples and events out, synchronously.

Invariant: libespeak-ng is global to the process and not thread-safe, so the thread that claims it
owns it until it releases it; claims of that thread share the library, every other thread gets a
ModelError. (phonemizer, which the neural voice uses for phones, loads its own *copy* of the library
file and so has its own global state: it neither needs this claim nor disturbs it.)
"""

import ctypes
import threading
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from engine.errors import ModelError, SynthesisError
from engine.machine import native_path
from engine.settings_file import data_folder
from engine.tts.base import Pcm
from engine.tts.espeak import voices

SAMPLE_RATE: Final = 22_050  # Hz, espeak's own
MAX_SPEECH_SAMPLES: Final = 120 * SAMPLE_RATE  # more than that from one call is a runaway

# From speak_lib.h (API revision 12).
_OUTPUT_SYNCHRONOUS = 2
_PHONEME_EVENTS, _PHONEME_IPA, _DONT_EXIT = 1 << 0, 1 << 1, 1 << 15
_CHARS_UTF8, _PHONES_GIVEN = 1, 0x100  # it takes phones between [[ and ]]
_POSITION_CHARACTER = 1
_PARAMETER_RATE, _PARAMETER_VOLUME = 1, 2
_EVENT_LAST, _EVENT_WORD, _EVENT_END, _EVENT_PHONEME = 0, 1, 5, 7
# espeak lowers its own gain after a peak that would clip and keeps it low in the next call, so that
# samples would depend on the text before. At 70 no voice of ours comes near a peak.
_VOLUME = 70
_SEED = 1
_LONGEST_PATH: Final = 159  # bytes of the data's path: espeak cuts a longer one


@dataclass(frozen=True)
class WordMark:
    """The beginning of a word: `character` counts from 0 in the text, `sample` in the wave."""

    character: int
    sample: int


@dataclass(frozen=True)
class PhoneMark:
    """The beginning of a phone. `ipa` may have stress marks; it is empty for a pause."""

    sample: int
    ipa: str


@dataclass(frozen=True)
class Speech:
    """Samples and events of one text."""

    pcm: Pcm  # [S] at SAMPLE_RATE
    words: tuple[WordMark, ...]
    phones: tuple[PhoneMark, ...]


class _EventId(ctypes.Union):
    _fields_ = (("name", ctypes.c_char_p), ("string", ctypes.c_char * 8))


class _Event(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int) for name in ("type", "unique_identifier", "text_position")),
        *((name, ctypes.c_int) for name in ("length", "audio_position", "sample")),
        *(("user_data", ctypes.c_void_p), ("id", _EventId)),
    )


_SYNTH_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)


class Espeak:
    """libespeak-ng, for the thread that claimed it. Every claim() needs one release()."""

    _held: "Espeak | None" = None
    _claiming = threading.Lock()

    def __init__(self) -> None:
        """Load and initialise the library; ModelError says what is wrong with it."""
        self._owner = threading.current_thread()
        self._claims = 0
        self._voice = ""
        self._samples: list[npt.NDArray[np.int16]] = []
        self._words: list[WordMark] = []
        self._phones: list[PhoneMark] = []
        self._library = _load_library()
        with ExitStack() as files:
            self._initialise(_make_data(files))
            self._files = files.pop_all()

    @classmethod
    def claim(cls) -> "Espeak":
        """Return the library for this thread. ModelError when another living thread owns it."""
        with cls._claiming:
            library = cls._held
            if library is not None and library._owner is not threading.current_thread():
                if library._owner.is_alive():
                    raise ModelError(
                        "The formant voice is in use by the thread '{name}'.",
                        hint="Only one thread at a time can own it; close the other voice first.",
                        name=library._owner.name,
                    )
                library._terminate()
            cls._held = cls._held or cls()
            cls._held._claims += 1
            return cls._held

    def release(self) -> None:
        """End one claim; the last one frees the library, unless another thread has claimed it since
        its owner ended. After the owner has ended, any thread may call this.
        """
        if self._owner.is_alive():
            self._check_owner()
        with Espeak._claiming:
            self._claims -= 1
            if self._claims == 0 and Espeak._held is self:
                self._terminate()

    def speak(self, text: str, *, voice: str, words_per_minute: int) -> Speech:
        """Speak `text` (plain, no markup) with the voice called `voice` at 80 to 450 words a
        minute.

        The samples depend on the arguments alone. SynthesisError when espeak refuses.
        """
        self.select(voice)
        status = self._library.espeak_SetParameter(_PARAMETER_RATE, words_per_minute, 0)
        self._check(status, "the pace")
        self._library.espeak_ng_SetRandSeed(_SEED)
        self._samples, self._words, self._phones = [], [], []
        encoded = text.encode()
        place = (0, _POSITION_CHARACTER, 0)
        options = (_CHARS_UTF8 | _PHONES_GIVEN, None, None)
        status = self._library.espeak_Synth(encoded, len(encoded) + 1, *place, *options)
        self._check(status, "a text")
        pcm = np.concatenate([np.zeros(0, np.int16), *self._samples]).astype(np.float32)
        return Speech(pcm / np.float32(32768), tuple(self._words), tuple(self._phones))

    def select(self, voice: str) -> None:
        """Load a voice ahead of speak(), which takes some ms if it is not the last one used."""
        self._check_owner()
        if voice == self._voice:
            return
        self._voice = ""
        self._check(self._library.espeak_SetVoiceByName(voice.encode()), f"the voice {voice!r}")
        self._voice = voice

    def _initialise(self, data: Path) -> None:
        library, options = self._library, _PHONEME_EVENTS | _PHONEME_IPA | _DONT_EXIT
        path = native_path(data).encode()
        rate = library.espeak_Initialize(_OUTPUT_SYNCHRONOUS, 0, path, options)
        if rate != SAMPLE_RATE:
            raise ModelError(
                "The formant voice did not start (espeak-ng answered {status}).",
                hint="Install Rubato again: espeak's data is missing or of another version.",
                status=rate,
            )
        # The callback object must outlive the library's use of it.
        self._callback = _SYNTH_CALLBACK(self._collect)
        library.espeak_SetSynthCallback(self._callback)
        self._check(library.espeak_SetParameter(_PARAMETER_VOLUME, _VOLUME, 0), "the volume")

    def _collect(self, wave: Any, count: int, events: Any) -> int:  # Any: ctypes pointers
        """Copy the samples and events of espeak's callback. The result 1 stops a runaway text."""
        if wave and count > 0:
            self._samples.append(np.ctypeslib.as_array(wave, (count,)).copy())
        index = 0
        while (event := events[index]).type != _EVENT_LAST:
            if event.type == _EVENT_WORD:
                self._words.append(WordMark(event.text_position - 1, event.sample))
            elif event.type == _EVENT_END:  # of a clause: closes its last phone
                self._phones.append(PhoneMark(event.sample, ""))
            elif event.type == _EVENT_PHONEME:
                ipa = event.id.string.decode("utf-8", "ignore")  # cut at 8 bytes by espeak
                self._phones.append(PhoneMark(event.sample, ipa))
            index += 1
        return int(sum(map(len, self._samples)) > MAX_SPEECH_SAMPLES)

    def _check(self, status: int, what: str) -> None:
        if status != 0:
            raise SynthesisError(
                "The formant voice refused {what} (espeak-ng status {status}).",
                hint="Try again; if it stays, install Rubato again.",
                what=what,
                status=f"{status:#x}",
            )

    def _check_owner(self) -> None:
        if threading.current_thread() is not self._owner:
            raise SynthesisError(
                "The formant voice belongs to the thread '{owner}', not to '{other}'.",
                hint="libespeak-ng must be used from the thread that loaded it.",
                owner=self._owner.name,
                other=threading.current_thread().name,
            )

    def _terminate(self) -> None:
        self._library.espeak_Terminate()
        Espeak._held = None
        self._files.close()


def _load_library() -> Any:  # Any: ctypes functions have no signatures
    """Load libespeak-ng and declare the result types that are not int."""
    try:
        import espeakng_loader  # here, not above: 20 MB package whose absence is a ModelError

        library = ctypes.CDLL(espeakng_loader.get_library_path())
    except (ImportError, OSError) as error:
        raise ModelError(
            "The formant voice could not be loaded: {error}.",
            hint="Install Rubato again; it brings espeak-ng along.",
            error=error,
        ) from error
    library.espeak_SetSynthCallback.restype = None
    library.espeak_ng_SetRandSeed.argtypes = [ctypes.c_long]
    text, place = (ctypes.c_char_p, ctypes.c_size_t), (ctypes.c_uint, ctypes.c_int, ctypes.c_uint)
    options = (ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p)
    library.espeak_Synth.argtypes = [*text, *place, *options]
    return library


def _make_data(files: ExitStack) -> Path:
    """Return espeak's data in the person's data folder; where that is full, read-only or too deep
    for espeak, in a temporary folder that `files` removes. ModelError if neither can be made.
    """
    try:
        folder = voices.make_data_folder(_data_folder(), data_folder())
    except ModelError:
        with suppress(OSError):
            return _make_temporary(files)
        raise
    if len(native_path(folder).encode()) > _LONGEST_PATH:
        with suppress(OSError):
            return _make_temporary(files)
    return folder


def _make_temporary(files: ExitStack) -> Path:
    place = TemporaryDirectory(prefix=voices.DATA_PREFIX, ignore_cleanup_errors=True)
    return voices.make_data_folder(_data_folder(), Path(files.enter_context(place)))


def _data_folder() -> Path:
    import espeakng_loader

    return Path(espeakng_loader.get_data_path())
