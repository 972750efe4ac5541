"""Starts, pauses and ends of speech, on the ears' count of samples.

Invariant: positions are those of the microphone, even after a restart of the detector. A pause is
identified by its first sample; a silence set for one pause never ends another. Speech that was
joined midway is not reported.
"""

from dataclasses import replace

from engine.audio import vad
from engine.audio.base import Pcm
from engine.runtime.turn.facts import InterimTranscript, SpeechGoesOn
from engine.runtime.turn.waiting import PAUSE_MS, Patience, Speech

SPEECH_MS = 96  # of voice that open an utterance
CANDIDATE_MS = 32  # of voice that pause a reply, which soon continues if it was nothing
CANDIDATE_VOICE = 0.3  # probability of a first sign of voice then; residual echo stays below it
# Windows in a row of this probability count without a trace of another sound, as some speakers
# leave hardly any in a loud room. Residual echo stays between 0.5 and 0.75 for seconds: 0.5 paused
# a reply 18 times in 4 minutes.
INSISTENT = 2
INSISTENT_VOICE = 0.8
VOICE = 0.5  # probability from which a window counts as voice
# Speech this soon after the microphone was opened began earlier: longer than a gap between words.
MIDWAY_S = 0.5
_MIDWAY = int(MIDWAY_S * vad.SAMPLE_RATE)


class SpeechWatch:
    """The voice detector, and the rule that turns its output into utterances."""

    def __init__(self, patience: Patience) -> None:
        """`patience` may be replaced at any time."""
        self.patience = patience
        self._vad: vad.Vad | None = None  # None = not loaded: nothing is found
        self._endpointer = vad.Endpointer()
        self._during_reply = False
        self._spoken = 0  # windows since speech began
        self._voiced = 0  # voiced windows in a row
        self._began: int | None = None  # sample where the utterance began; None = there is none
        self._speech = Speech()
        self._pause: int | None = None  # sample where the current pause began; None = no pause
        self._zero: int | None = None  # sample where the detector began; None = not begun
        self._end = 0  # sample up to which was processed
        self._clean_from = 0  # speech that begins after this sample has its beginning
        self.joined_midway = False  # the current speech lacks its beginning
        self.attend(during_reply=False)

    def load(self) -> None:
        """Load the detector if it is not loaded. ModelError if that fails."""
        self._vad = self._vad or vad.Vad()

    @property
    def speaking(self) -> bool:
        return self._endpointer.speaking

    @property
    def resting(self) -> bool:
        """Whether nothing was processed since the last reset."""
        return self._zero is None

    def attend(self, *, during_reply: bool) -> None:
        """Set whether a reply is audible: then a first sign counts, and no pause is reported."""
        self._during_reply = during_reply
        self._endpointer.minimum_speech_ms = CANDIDATE_MS if during_reply else SPEECH_MS
        self._endpointer.threshold = CANDIDATE_VOICE if during_reply else VOICE
        self._endpointer.pause_ms = None if during_reply else PAUSE_MS
        self._speech = replace(self._speech, overlapping=during_reply)
        if during_reply:
            self._forget_pause()

    def follow(self, began: int | None, *, key_held: bool = False) -> None:
        """An utterance goes on since this sample; None: there is none."""
        self._began = began
        self._speech = replace(self._speech, key_held=key_held, spoken_s=0.0)

    def begin_anew(self, *, midway: bool = False) -> None:
        """Count samples from 0 again. `midway`: a voice may have begun before that."""
        self.joined_midway = False
        self.reset()
        self._end, self._clean_from = 0, _MIDWAY if midway else 0
        self._began = None if self._began is None else 0

    def hold(self) -> None:
        """The talk key is down: no silence ends the utterance."""
        self._speech = replace(self._speech, key_held=True)

    def judge(self, interim: InterimTranscript) -> bool:
        """Wait as long as the words need. False if their pause is over."""
        judged = interim.pause == self._pause
        if judged:
            self._speech = replace(self._speech, completeness=interim.completeness)
        return judged

    def push(
        self, pcm: Pcm, end: int, *, plausible: bool = True
    ) -> list[vad.SpeechEvent | SpeechGoesOn]:
        """Return the events in samples [S] that end before sample `end`, in order. Unless speech is
        `plausible`, it only begins with INSISTENT windows: residual echo may sound like a voice for
        a moment, but leaves no trace of another sound.
        """
        self._end = end
        if self._zero is None:
            self._zero = end - len(pcm)
        if self._began is not None:
            spoken_s = (end - self._began) / vad.SAMPLE_RATE
            self._speech = replace(self._speech, spoken_s=spoken_s)
        silence_ms = self.patience.silence_ms(self._speech)
        if silence_ms == 0 and self.speaking:
            self.reset()
            self.follow(None)
            return [vad.SpeechEnded(end)]
        self._endpointer.end_silence_ms = silence_ms
        probabilities = [] if self._vad is None else self._vad.push(pcm)
        insistent = [self._insists(probability) for probability in probabilities]
        if not (plausible or self.speaking):
            probabilities = [
                p if sure else 0.0 for p, sure in zip(probabilities, insistent, strict=True)
            ]
        seen: list[vad.SpeechEvent | SpeechGoesOn] = []
        for event in self._endpointer.push(probabilities):
            placed = replace(event, sample=self._zero + event.sample)
            self._note(placed)
            if not self._misses(placed):
                seen.append(placed)
        self._spoken += len(probabilities)
        voiced = any(probability >= VOICE for probability in probabilities)
        if voiced and self.speaking and self._during_reply and not self.joined_midway:
            seen.append(SpeechGoesOn(self._spoken * vad.WINDOW_MS))
        return seen

    def reset(self) -> None:
        """Forget all samples."""
        if self.joined_midway:  # speech that goes on still lacks its beginning
            self.joined_midway, self._clean_from = False, self._end + _MIDWAY
        if self._vad is not None:
            self._vad.reset()
        self._endpointer.reset()
        self._voiced = 0
        self._zero = None
        self._forget_pause()

    def _insists(self, probability: float) -> bool:
        """Return whether another window of this probability makes voice certain."""
        self._voiced = self._voiced + 1 if probability >= INSISTENT_VOICE else 0
        return self._voiced >= INSISTENT

    def _misses(self, event: vad.SpeechEvent) -> bool:
        """Return whether this event belongs to speech without its beginning."""
        is_start = isinstance(event, vad.SpeechStarted)
        joined_midway = event.sample < self._clean_from if is_start else self.joined_midway
        self.joined_midway = joined_midway and not isinstance(event, vad.SpeechEnded)
        return joined_midway

    def _note(self, event: vad.SpeechEvent) -> None:
        match event:
            case vad.SpeechStarted():
                self._spoken = 0
            case vad.SpeechPaused(sample):
                self._pause = sample
            case vad.SpeechResumed() | vad.SpeechEnded():
                self._forget_pause()

    def _forget_pause(self) -> None:
        self._pause = None
        self._speech = replace(self._speech, completeness=None)
