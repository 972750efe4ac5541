"""Whisper through faster-whisper: the accurate recogniser, for people who fetched a model.

Whisper cannot stream, so the text so far comes from decoding the stored audio repeatedly, and from
finished pieces of long utterances. Invariant: the model never decodes audio in which Silero found
no speech, and never more than 30 s at once. Text that fails the gates is dropped.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from engine.asr.base import SAMPLE_RATE, RecogniserInfo, Transcript
from engine.asr.heard_names import NameCorrection, hotwords
from engine.asr.utterance import Clip, UtteranceAudio
from engine.asr.whisper.gates import Belief, believe, join
from engine.asr.whisper.model import LoadedWhisper, in_language, load_model, pad_to_window
from engine.audio.pcm import Pcm
from engine.audio.vad import Vad
from engine.errors import RecogniserError
from engine.languages import ENGLISH, SPOKEN, of_system
from engine.names_file import in_force
from engine.settings import RecogniserSettings
from engine.text.names import Names

NAME = "whisper"
PARTIAL_SAMPLES = 700 * SAMPLE_RATE // 1000  # new audio before the text so far is decoded again
LIMIT_S = 25  # Whisper's window is 30 s; the rest is margin
CUT_S = 5
PAUSE_MS = 1000  # longer pauses are cut out: Whisper invents text for them
MARGIN_MS = 200  # silence left around speech
FINAL_BEAMS = 5
QUICK_BEAMS = 1
# Of 34 commands of one or two words `auto` took 10 for another language (Whisper base).
SHORT_S = 1.5
SURE = 0.5  # probability of a detected language; that of a sentence is mostly above 0.9

Clock = Callable[[], float]


def load_whisper(settings: RecogniserSettings) -> "WhisperRecogniser":
    """Load the CTranslate2 model folder `settings.model`. ModelError if that fails."""
    return WhisperRecogniser(load_model(settings.model, settings.language), names=in_force)


class WhisperRecogniser:
    """A loaded Whisper model; opens one Recognition at a time."""

    def __init__(
        self,
        loaded: LoadedWhisper,
        *,
        clock: Clock = time.perf_counter,
        names: Callable[[], Names] = tuple,
    ) -> None:
        """`clock` (seconds) paces the decoding of the text so far; `names` returns the person's
        names.
        """
        self._decoder = _Decoder(loaded)
        self._detail = loaded.detail
        self._vad = Vad()
        self._clock = clock
        self._names = names
        self._with_names()

    @property
    def info(self) -> RecogniserInfo:
        return RecogniserInfo(NAME, self._detail)

    def open(self) -> "WhisperRecognition":
        return WhisperRecognition(self._with_names(), self._vad, self._clock)

    def _with_names(self) -> "_Decoder":
        """Return the decoder with the names in force; a new list is prepared, in a second or two
        for a thousand names.
        """
        self._decoder.names = self._names()
        self._decoder.corrected(Belief("", 0.0))
        return self._decoder

    def adjust(self, settings: RecogniserSettings) -> None:
        """Change the language for the next Recognition. ModelError if it is not supported."""
        loaded = in_language(self._decoder.loaded, settings.language)
        self._decoder = replace(self._decoder, loaded=loaded)

    def close(self) -> None:
        """Free the model's memory; no Recognition may be used afterwards."""
        self._decoder.loaded.model.model.unload_model()


@dataclass
class _Decoder:
    """The model and the user's language: samples in, accepted text out. `last`: the language that
    was detected last in more than a few words, at first the system's, for utterances that are too
    short for a detection. `names`: those of the person.
    """

    loaded: LoadedWhisper
    last: str = field(default_factory=of_system)
    names: Names = ()
    correction: NameCorrection = field(default_factory=NameCorrection)

    def decode(self, clip: Clip, *, beams: int) -> Belief:
        """Decode at most 30 s of audio."""
        speech = clip.spoken(pause_ms=PAUSE_MS, margin_ms=MARGIN_MS)
        if len(speech) == 0:
            return Belief("", 0.0)
        segments, language = self._segments(speech, beams)
        belief = believe(segments, speech_s=len(speech) / SAMPLE_RATE)
        return replace(belief, language=language)

    def corrected(self, belief: Belief) -> Belief:
        """Return a text with the person's names in place of words that sound like them."""
        language = self.loaded.language or belief.language or ENGLISH
        return replace(belief, text=self.correction.corrected(belief.text, self.names, language))

    def _segments(self, pcm: Pcm, beams: int) -> tuple[list[Any], str]:
        """Transcribe samples; return the segments, and the language if the model detected it."""
        try:
            if self.loaded.language:
                return list(self._transcribe(pcm, beams, self.loaded.language)[0]), ""
            known = self.loaded.model.supported_languages
            if len(pcm) < SHORT_S * SAMPLE_RATE and self.last in known:
                return list(self._transcribe(pcm, beams, self.last)[0]), self.last
            segments, info = self._transcribe(pcm, beams, None)
            language = _detected(info)
            if language != info.language:  # nothing was decoded yet: `segments` is lazy
                segments, _ = self._transcribe(pcm, beams, language)
            else:
                self.last = language
            return list(segments), language
        except (RuntimeError, ValueError) as error:
            raise RecogniserError(
                "Whisper could not decode this utterance: {error}",
                hint="Say it again; if it keeps failing, choose a smaller model or the CPU.",
                error=error,
            ) from error

    def _transcribe(self, pcm: Pcm, beams: int, language: str | None) -> Any:
        return self.loaded.model.transcribe(
            pad_to_window(pcm),
            language=language,
            beam_size=beams,
            # Decoding again at higher temperatures is random and up to six times as slow; the gates
            # drop text that fails at 0 instead.
            temperature=0.0,
            condition_on_previous_text=False,  # or one invented sentence causes the next
            without_timestamps=True,
            no_speech_threshold=None,  # the gates check these figures
            log_prob_threshold=None,
            compression_ratio_threshold=None,
            hotwords=hotwords(self.names),
        )


def _detected(info: Any) -> str:
    """Return the language of a detection; if that is unsure, as in a single word, the likeliest of
    those that are spoken and that of the system.
    """
    if info.language_probability >= SURE or not info.all_language_probs:
        return str(info.language)
    expected = {*SPOKEN, of_system()}
    shares = [(share, code) for code, share in info.all_language_probs if code in expected]
    return str(max(shares)[1]) if shares else str(info.language)


class WhisperRecognition:
    """One utterance: the audio not yet decoded finally, and the text of the finished pieces."""

    _partial: str
    _fresh: int  # samples since the text so far was decoded
    _due: int  # fresh samples that trigger the next decoding

    def __init__(self, decoder: _Decoder, vad: Vad, clock: Clock) -> None:
        self._decoder = decoder
        self._vad = vad
        self._clock = clock
        self.close()

    def push(self, pcm: Pcm) -> None:
        """Append samples [S]; decodes only if the utterance exceeds Whisper's window."""
        self._fresh += len(self._audio.push(pcm))
        while self._audio.full:
            head = self._audio.take_head()
            belief = self._decoder.decode(head, beams=FINAL_BEAMS)
            self._settled.append(replace(belief, goes_on=head.in_speech))

    def partial(self) -> str:
        """Return the best text so far, decoded again after 0.7 s if decoding keeps up."""
        # In a pause an interim transcript comes next, and would have to wait for this decoding.
        if self._fresh >= self._due and not self._audio.pausing:
            began = self._clock()
            self._partial = self._belief(QUICK_BEAMS).text
            took_samples = int((self._clock() - began) * SAMPLE_RATE)
            self._fresh = 0
            # At most half of the time is spent on the text so far, so the end of speech is never
            # delayed long.
            self._due = max(PARTIAL_SAMPLES, 2 * took_samples)
        return self._partial

    def peek(self) -> str:
        """Return the last text so far, as every decoding takes long."""
        return self._partial

    def interim(self, wanted: Callable[[], bool]) -> Transcript | None:
        """Decode the stored audio with all beams; the model cannot be stopped on the way."""
        if not wanted():
            return None
        transcript = self.overlapping()
        return transcript if wanted() else None

    def overlapping(self) -> Transcript:
        """As interim(): a model of all words needs no list of interjections."""
        belief = self._belief(FINAL_BEAMS)
        self._partial, self._fresh = belief.text, 0
        return _transcript(belief)

    def finish(self) -> Transcript:
        """Decode the rest with all beams. RecogniserError if the model fails."""
        belief = self._belief(FINAL_BEAMS)
        self.close()
        return _transcript(belief)

    def close(self) -> None:
        """Discard the utterance; the next samples begin a new one."""
        self._audio = UtteranceAudio(self._vad, limit_s=LIMIT_S, cut_s=CUT_S)
        self._settled: list[Belief] = []
        self._partial = ""
        self._fresh = 0
        self._due = PARTIAL_SAMPLES

    def _belief(self, beams: int) -> Belief:
        pieces = [*self._settled, self._decoder.decode(self._audio.clip(), beams=beams)]
        language = self._decoder.loaded.language or pieces[-1].language
        belief = join(pieces, lowers=language != "de")  # German nouns have capitals
        return self._decoder.corrected(belief)


def _transcript(belief: Belief) -> Transcript:
    return Transcript(belief.text, belief.confidence, NAME, belief.language)
