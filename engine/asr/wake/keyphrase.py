"""Find a typed wake phrase with pocketsphinx, without training: a loop of all phones competes with
the phones of the phrase.

People pause before they call somebody, so matches in the middle of talk are ignored. In half an
hour of synthetic talk that left a quarter of the false wakes. Two ideas did not help: a second
search of the match with its own spectral mean, and the score of the phrase's words against the
likeliest phones. Wider beams found more calls, but allowed a word to be skipped. A long utterance
of pocketsphinx is restarted now and then, to limit its memory.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.asr.base import SAMPLE_RATE
from engine.asr.sphinx.english import incomplete
from engine.asr.sphinx.searches import SLICE, failure, new_sphinx, sixteen_bit
from engine.audio.base import Pcm

# Odds against all other phones: one factor per phrase and one per phone. With the phone factor
# alone, two words of a long phrase made up for a missing third.
PHRASE_ODDS, PHONE_ODDS = 1e-24, 2e-3
DOWNSAMPLING = 2  # scores one of two frames, in little more than half the time
FRAME = SAMPLE_RATE // 100  # samples
LONGEST_S = 20.0  # of an utterance
KEPT = 400  # frames whose loudness survives a restart of the utterance
PAUSE = 40  # frames
PAUSE_DB = 6.0  # below the phrase
QUICKEST, SLOWEST = 4, 16  # frames per phone
NAME = "wake"


@dataclass(frozen=True)
class _Place:
    """Frames of an utterance; `end` is exclusive."""

    start: int
    end: int


class Keyphrase:
    """A KeywordSpotter for a phrase that was typed."""

    def __init__(
        self, phrase: str, sounds: Mapping[str, str], *, slack: float = 1.0, beam: float = 1e-48
    ) -> None:
        """Find a phrase of words with these phones. `slack` multiplies the usual odds; `beam` is
        the search beam. ModelError if pocketsphinx or its model is missing.
        """
        self._phones = len(" ".join(sounds[word] for word in phrase.split()).split())
        odds = slack * PHRASE_ODDS * PHONE_ODDS**self._phones
        with tempfile.TemporaryDirectory() as folder:
            dictionary = Path(folder, "phrase.dict")
            lines = [f"{word} {phones}\n" for word, phones in sorted(sounds.items())]
            dictionary.write_text("".join(lines), encoding="ascii")
            options = {"kws_threshold": odds, "beam": beam, "ds": DOWNSAMPLING}
            self._sphinx = new_sphinx(dictionary, **options)
        try:
            self._sphinx.add_keyphrase(NAME, phrase)
            self._sphinx.activate_search(NAME)
        except (RuntimeError, ValueError) as error:
            raise incomplete(error) from error
        self._usual_mean = str(self._sphinx.get_cmn())
        self._open = False
        self._samples = 0  # of this utterance
        self._rest: Pcm = np.zeros(0, np.float32)  # less than a frame
        self._power = np.zeros(0)  # by frame, since the last reset
        self._before = 0  # frames in `_power` before this utterance
        self._judged: _Place | None = None  # the last match, None = none yet
        self.reset()

    def push(self, pcm: Pcm) -> int | None:
        """RecogniserError if pocketsphinx fails."""
        if self._samples > LONGEST_S * SAMPLE_RATE:
            self._begin()
        self._samples += len(pcm)
        self._measure(pcm)
        samples = sixteen_bit(pcm)
        try:
            for first in range(0, len(samples), SLICE):
                self._sphinx.process_raw(samples[first : first + SLICE], False, False)
            place = self._found()
        except RuntimeError as error:
            raise failure(error) from error
        if place is None or place == self._judged:
            return None
        self._judged = place
        after = self._after_a_pause(place)
        return max(0, self._samples - place.end * FRAME) if after else None

    def reset(self) -> None:
        self._rest = np.zeros(0, np.float32)
        self._power = np.zeros(PAUSE)  # silence counts as a pause
        self._begin()

    def _begin(self) -> None:
        """Start a new utterance of pocketsphinx."""
        if self._open:
            self._sphinx.end_utt()
        self._sphinx.reinit_feat()
        self._sphinx.set_cmn(self._usual_mean)
        self._sphinx.start_utt()
        self._open = True
        self._samples = 0
        self._power = self._power[-KEPT:]
        self._before = len(self._power)
        self._judged = None

    def _measure(self, pcm: Pcm) -> None:
        """Append the power of each frame; the samples are not stored."""
        pcm = np.concatenate((self._rest, pcm))
        frames = pcm[: len(pcm) // FRAME * FRAME].reshape(-1, FRAME)
        self._rest = pcm[frames.size :]
        self._power = np.append(self._power, np.mean(frames**2, axis=1))

    def _found(self) -> _Place | None:
        """Return the last match in this utterance."""
        if self._sphinx.hyp() is None:
            return None
        places = [_Place(part.start_frame, part.end_frame + 1) for part in self._sphinx.seg()]
        return max(places, key=lambda place: place.end, default=None)

    def _after_a_pause(self, place: _Place) -> bool:
        """Return whether a pause ended about where the phrase must have begun; in noise its first
        phones are often missed. The time before the utterance counts as a pause.
        """
        start, end = self._before + place.start, self._before + place.end
        loud = np.quantile(self._power[start:end], 0.8)
        quiet = self._power[:end] < loud * 10 ** (-PAUSE_DB / 10)
        run = np.convolve(quiet, np.ones(PAUSE, np.int64), "valid")  # by its first frame
        first, last = end - SLOWEST * self._phones, end - QUICKEST * self._phones
        return PAUSE in run[max(0, first - PAUSE) : max(0, last - PAUSE) + 1]
