"""Whisper through faster-whisper: the accurate recogniser, for a person who fetched a model.

Whisper cannot stream, so the text so far comes from decoding the kept audio again and again, and
from finished pieces of long utterances. Invariant: the model is never run on audio in which Silero
heard nobody, and never on more than 30 s at once; what fails the gates is not said.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from engine.asr.base import SAMPLE_RATE, RecogniserInfo, Transcript
from engine.asr.utterance import Clip, UtteranceAudio
from engine.asr.whisper.gates import Belief, Gates, believe, join
from engine.asr.whisper.model import LoadedWhisper, filled, in_language, load_model
from engine.audio.pcm import Pcm
from engine.audio.vad import Vad
from engine.errors import RecogniserError
from engine.settings import RecogniserSettings

NAME = "whisper"
PARTIAL_SAMPLES = 700 * SAMPLE_RATE // 1000  # new audio that makes another look worth while
LIMIT_S = 25  # Whisper sees 30 s at once; the rest is margin
CUT_S = 5
PAUSE_MS = 1000  # longer pauses are cut out: Whisper invents text for them
MARGIN_MS = 200  # of silence kept around speech
FINAL_BEAMS = 5
QUICK_BEAMS = 1

Clock = Callable[[], float]


def load_whisper(settings: RecogniserSettings) -> "WhisperRecogniser":
    """Load the CTranslate2 model folder `settings.model`; ModelError when that cannot be done."""
    return WhisperRecogniser(load_model(settings.model, settings.language))


class WhisperRecogniser:
    """A loaded Whisper model; opens one Recognition at a time."""

    def __init__(
        self,
        loaded: LoadedWhisper,
        *,
        gates: Gates | None = None,
        clock: Clock = time.perf_counter,
    ) -> None:
        """`gates` None = the usual ones; `clock` in seconds paces the text so far."""
        self._decoder = _Decoder(loaded, gates if gates is not None else Gates())
        self._detail = loaded.detail
        self._vad = Vad()
        self._clock = clock

    @property
    def info(self) -> RecogniserInfo:
        return RecogniserInfo(NAME, self._detail)

    def open(self) -> "WhisperRecognition":
        return WhisperRecognition(self._decoder, self._vad, self._clock)

    def adjust(self, settings: RecogniserSettings) -> None:
        """Decode in this language from the next Recognition on; ModelError if the model has not
        learnt it.
        """
        loaded = in_language(self._decoder.loaded, settings.language, settings.model)
        self._decoder = replace(self._decoder, loaded=loaded)

    def close(self) -> None:
        """Give the model's memory back; no Recognition may be used afterwards."""
        self._decoder.unload()


@dataclass(frozen=True)
class _Decoder:
    """The model, the person's language and the gates: samples in, believed text out."""

    loaded: LoadedWhisper
    gates: Gates

    def decode(self, clip: Clip, *, beams: int) -> Belief:
        """Text of at most 30 s in which somebody may have spoken."""
        speech = clip.spoken(pause_ms=PAUSE_MS, margin_ms=MARGIN_MS)
        if len(speech) == 0:
            return Belief("", 0.0)
        segments, language = self._segments(speech, beams)
        belief = believe(segments, speech_s=len(speech) / SAMPLE_RATE, gates=self.gates)
        return replace(belief, language=language)

    def unload(self) -> None:
        self.loaded.model.model.unload_model()

    def _segments(self, pcm: Pcm, beams: int) -> tuple[list[Any], str]:
        """What was said, and its language where that was left to the model."""
        try:
            segments, info = self.loaded.model.transcribe(
                filled(pcm),
                language=self.loaded.language,
                beam_size=beams,
                # Decoding again at higher temperatures is random and up to six times as slow;
                # what fails at 0 is dropped by the gates instead.
                temperature=0.0,
                condition_on_previous_text=False,  # or one invented sentence breeds the next
                without_timestamps=True,
                no_speech_threshold=None,  # the gates judge, with the numbers in hand
                log_prob_threshold=None,
                compression_ratio_threshold=None,
            )
            return list(segments), "" if self.loaded.language else str(info.language)
        except (RuntimeError, ValueError) as error:
            raise RecogniserError(
                "Whisper could not decode this utterance: {error}",
                hint="Say it again; if it keeps failing, choose a smaller model or the CPU.",
                error=error,
            ) from error


class WhisperRecognition:
    """One utterance: the audio not yet settled, and the text of what is."""

    def __init__(self, decoder: _Decoder, vad: Vad, clock: Clock) -> None:
        self._decoder = decoder
        self._vad = vad
        self._clock = clock
        self._audio = UtteranceAudio(vad, limit_s=LIMIT_S, cut_s=CUT_S)
        self._settled: list[Belief] = []
        self._partial = ""
        self._fresh = 0  # samples since the last look
        self._due = PARTIAL_SAMPLES  # so many fresh samples make the next look due

    def push(self, pcm: Pcm) -> None:
        """Keep samples [S]; decodes only when an utterance outgrows Whisper's window."""
        self._fresh += len(self._audio.push(pcm))
        while self._audio.full:
            head = self._audio.take_head()
            belief = self._decoder.decode(head, beams=FINAL_BEAMS)
            self._settled.append(replace(belief, goes_on=head.in_speech))

    def partial(self) -> str:
        """Best text so far, decoded again after 0.7 s if decoding keeps up with speech."""
        # In a pause an interim transcript is wanted next, and would have to wait for the look.
        if self._fresh >= self._due and not self._audio.pausing:
            began = self._clock()
            self._partial = self._belief(QUICK_BEAMS).text
            took_samples = int((self._clock() - began) * SAMPLE_RATE)
            self._fresh = 0
            # At most half of the time goes into looks, so the end of speech is never far behind.
            self._due = max(PARTIAL_SAMPLES, 2 * took_samples)
        return self._partial

    def peek(self) -> str:
        """The last text so far: every look takes long."""
        return self._partial

    def interim(self, wanted: Callable[[], bool]) -> Transcript | None:
        """Decode what is kept with full care; the model cannot be stopped on the way."""
        if not wanted():
            return None
        transcript = self.overlapping()
        return transcript if wanted() else None

    def overlapping(self) -> Transcript:
        """As interim(): a model that knows any word needs no list of them."""
        belief = self._belief(FINAL_BEAMS)
        self._partial, self._fresh = belief.text, 0
        return _transcript(belief)

    def finish(self) -> Transcript:
        """Decode the rest with full care; RecogniserError when the model fails."""
        belief = self._belief(FINAL_BEAMS)
        self.close()
        return _transcript(belief)

    def close(self) -> None:
        """Throw the utterance away; what follows would be a new one."""
        self._audio = UtteranceAudio(self._vad, limit_s=LIMIT_S, cut_s=CUT_S)
        self._settled = []
        self._partial = ""
        self._fresh = 0
        self._due = PARTIAL_SAMPLES

    def _belief(self, beams: int) -> Belief:
        pieces = [*self._settled, self._decoder.decode(self._audio.clip(), beams=beams)]
        language = self._decoder.loaded.language or pieces[-1].language
        return join(pieces, lowers=language != "de")  # German nouns have capitals


def _transcript(belief: Belief) -> Transcript:
    return Transcript(belief.text, belief.confidence, NAME, belief.language)
