"""Who speaks when, on the ears' count of samples: starts, pauses and ends of speech.

Invariant: positions are those of the microphone, even after the detector was started again. A pause
is named by the sample where it began; a silence set for one pause never ends another. Speech that
was joined in its middle is not reported.
"""

from dataclasses import replace

from engine.audio import vad
from engine.audio.base import Pcm
from engine.runtime.turn.endpointing import PAUSE_MS, Patience, Speech
from engine.runtime.turn.facts import InterimTranscript, SpeechGoesOn

SPEECH_MS = 96  # of voice that open an utterance
CANDIDATE_MS = 32  # of voice that pause a reply: it goes on soon if it was nothing
CANDIDATE_VOICE = 0.3  # probability that is a first sign of voice then; an echo's rest stays below
# Windows in a row of this probability that need no trace: some speakers leave hardly any in a loud
# room. What is left of a loud echo stays between 0.5 and 0.75 for seconds: at 0.5 it paused a reply
# 18 times in 4 minutes.
INSISTENT = 2
INSISTENT_VOICE = 0.8
VOICE = 0.5  # probability from which a window counts as voice
# Who is heard so soon after the microphone was opened spoke before: longer than between two words.
MIDWAY_S = 0.5
_MIDWAY = int(MIDWAY_S * vad.SAMPLE_RATE)


class SpeechWatch:
    """The detector and the rule that makes utterances of what it says."""

    def __init__(self, patience: Patience) -> None:
        """`patience` may be replaced at any moment."""
        self.patience = patience
        self._vad: vad.Vad | None = None  # None = not loaded: nothing is found
        self._endpointer = vad.Endpointer()
        self._during_reply = False
        self._spoken = 0  # windows since speech began
        self._voiced = 0  # windows in a row that were voice
        self._began: int | None = None  # sample where the utterance began; None = there is none
        self._speech = Speech()
        self._pause: int | None = None  # sample where the present pause began; None = no pause
        self._zero: int | None = None  # sample where the detector began; None = not begun
        self._end = 0  # sample up to which was heard
        self._whole_from = 0  # sample from which on speech that begins is heard whole
        self.missed = False  # somebody speaks whose beginning was not heard
        self.attend(during_reply=False)

    def load(self) -> None:
        """Load the detector if it is not loaded. ModelError when that fails."""
        self._vad = self._vad or vad.Vad()

    @property
    def speaking(self) -> bool:
        return self._endpointer.speaking

    @property
    def resting(self) -> bool:
        """Whether nothing was heard since the last reset."""
        return self._zero is None

    def attend(self, *, during_reply: bool) -> None:
        """Whether a reply is heard: then the first sign of voice counts, and no pause is told."""
        self._during_reply = during_reply
        self._endpointer.minimum_speech_ms = CANDIDATE_MS if during_reply else SPEECH_MS
        self._endpointer.threshold = CANDIDATE_VOICE if during_reply else VOICE
        self._endpointer.pause_ms = None if during_reply else PAUSE_MS
        self._speech = replace(self._speech, overlapping=during_reply)
        if during_reply:
            self._forget_pause()

    def follow(self, began: int | None, *, key_held: bool = False) -> None:
        """An utterance goes on since this sample, or (None) none does any more."""
        self._began = began
        self._speech = replace(self._speech, key_held=key_held, spoken_s=0.0)

    def begin_anew(self, *, midway: bool = False) -> None:
        """Samples count from 0 again. `midway`: somebody may have been speaking before that."""
        self.missed = False
        self.reset()
        self._end, self._whole_from = 0, _MIDWAY if midway else 0
        self._began = None if self._began is None else 0

    def hold(self) -> None:
        """The talk key is down: no silence ends the utterance any more."""
        self._speech = replace(self._speech, key_held=True)

    def judge(self, interim: InterimTranscript) -> bool:
        """Wait for as long as the words need. False when the pause they are of is over."""
        judged = interim.pause == self._pause
        if judged:
            self._speech = replace(self._speech, completeness=interim.completeness)
        return judged

    def push(
        self, pcm: Pcm, end: int, *, plausible: bool = True
    ) -> list[vad.SpeechEvent | SpeechGoesOn]:
        """What the samples [S] that end before sample `end` show, in order. Unless it is
        `plausible` that somebody speaks, only what is INSISTENT begins speech: what is left of an
        echo may sound like a voice for a moment, but leaves no trace of another sound.
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
        if voiced and self.speaking and self._during_reply and not self.missed:
            seen.append(SpeechGoesOn(self._spoken * vad.WINDOW_MS))
        return seen

    def reset(self) -> None:
        """Forget what was heard."""
        if self.missed:  # somebody who still speaks is still heard without the beginning
            self.missed, self._whole_from = False, self._end + _MIDWAY
        if self._vad is not None:
            self._vad.reset()
        self._endpointer.reset()
        self._voiced = 0
        self._zero = None
        self._forget_pause()

    def _insists(self, probability: float) -> bool:
        """Whether another window of this probability makes voice certain."""
        self._voiced = self._voiced + 1 if probability >= INSISTENT_VOICE else 0
        return self._voiced >= INSISTENT

    def _misses(self, event: vad.SpeechEvent) -> bool:
        """Whether this is of somebody whose beginning was not heard."""
        is_start = isinstance(event, vad.SpeechStarted)
        missed = event.sample < self._whole_from if is_start else self.missed
        self.missed = missed and not isinstance(event, vad.SpeechEnded)
        return missed

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
