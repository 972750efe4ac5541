"""One pocketsphinx decoder: an acoustic model, a dictionary and named searches.

pocketsphinx holds Python's lock while it searches, so audio is passed in slices of 100 ms.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.asr.base import SAMPLE_RATE
from engine.asr.sphinx.english import incomplete
from engine.audio.pcm import Pcm
from engine.errors import RecogniserError
from engine.machine import native_path

SLICE = SAMPLE_RATE // 10 * 2  # bytes of 16-bit samples
MAX_STATES = 5000  # of the search per frame: no worse on clean speech, limits the time on noise
SCORE_SHIFT = 1024  # pocketsphinx divides the logarithm of a search's score by this
MEAN = "mean"  # the search that only measures the spectral mean
ANY_WORD = "a"  # the word that MEAN expects

_VARIANT = re.compile(r"\(\d+\)$")  # "a(2)": the second pronunciation of "a"


@dataclass(frozen=True)
class Hypothesis:
    """Result of one search.

    `posteriors` (0..1) belong to `words`. `unseen` counts transitions between words that occur in
    no phrase. `score` is the natural logarithm of the search's score per frame of 10 ms.
    """

    words: tuple[str, ...] = ()
    posteriors: tuple[float, ...] = ()
    unseen: int = 0
    score: float = 0.0

    @property
    def least(self) -> float:
        """Posterior of the least likely word."""
        return min(1.0, *self.posteriors) if self.posteriors else 0.0

    @property
    def mean(self) -> float:
        return min(1.0, sum(self.posteriors) / len(self.posteriors)) if self.posteriors else 0.0


def always() -> bool:
    """Return True; for work that is never cancelled."""
    return True


class Searches:
    """Searches, one at a time: start(), feed() and end(), or search() for all at once."""

    def __init__(self, dictionary: Path | None = None) -> None:
        """Load the dictionary of this file, which contains ANY_WORD; None = the complete one.
        ModelError if pocketsphinx or its model is missing.
        """
        self._sphinx = new_sphinx(dictionary, maxhmmpf=MAX_STATES)
        self.add_grammar(MEAN, [(0, 1, 1.0, ANY_WORD)])
        self.usual_mean = str(self._sphinx.get_cmn())

    def add_grammar(self, name: str, transitions: list[tuple[int, int, float, str]]) -> None:
        """Add a search for a grammar from state 0 to state 1."""
        self._sphinx.add_fsg(name, self._sphinx.create_fsg(name, 0, 1, transitions))

    def add_model(self, name: str, model: Any) -> None:
        """Add a search with a loaded language model."""
        self._sphinx.add_lm(name, model)

    def be_quick(self) -> None:
        """Omit the second pass of searches added from now on. It improves only the final text, and
        takes a third of the time, all of it at the end of speech.
        """
        self._sphinx.config["fwdflat"] = self._sphinx.config["bestpath"] = False

    def start(self, search: str, mean: str) -> None:
        """Start a search with this cepstral mean."""
        self._sphinx.activate_search(search)
        self._sphinx.set_cmn(mean)
        self._sphinx.start_utt()

    def feed(self, pcm: Pcm, wanted: Callable[[], bool] = always) -> bool:
        """Append samples [S]; False if `wanted` turned false. RecogniserError if that fails."""
        samples = sixteen_bit(pcm)
        try:
            for first in range(0, len(samples), SLICE):
                if not wanted():
                    return False
                self._sphinx.process_raw(samples[first : first + SLICE], False, False)
        except RuntimeError as error:
            raise failure(error) from error
        return True

    def words(self) -> list[str]:
        """Return the words so far."""
        hypothesis = self._sphinx.hyp()
        return [] if hypothesis is None else str(hypothesis.hypstr).split()

    def end(self) -> None:
        self._sphinx.end_utt()

    def mean(self, pcm: Pcm, before: str) -> str:
        """Return the cepstral mean of a complete utterance; `before` is the mean of an earlier one.
        Subtracting it removes room and microphone. RecogniserError if pocketsphinx fails.

        In a simulated room it halves the errors compared with the streaming estimate. A search for
        one word computes it, in a hundredth of the time of a real search.
        """
        # Forget the noise of the last utterance. This pass's noise estimate stays for the next
        # search: wrong words fell from 15 to 9 % (clean) and from 19 to 12 % (room).
        try:
            self._sphinx.reinit_feat()
            self.start(MEAN, before)
            self._sphinx.process_raw(sixteen_bit(pcm), True, True)
            mean = str(self._sphinx.get_cmn(False))
            self.end()
        except RuntimeError as error:
            raise failure(error) from error
        return mean

    def search(
        self, name: str, mean: str, pcm: Pcm, wanted: Callable[[], bool]
    ) -> Hypothesis | None:
        """Search samples [S]. None if `wanted` turned false; RecogniserError as in feed()."""
        try:
            self.start(name, mean)
            complete = self.feed(pcm, wanted)
            self.end()
            hypothesis = self._sphinx.hyp() if complete else None
            if hypothesis is None:
                return Hypothesis() if complete else None
            segments = [part for part in self._sphinx.seg() if part.word[0] not in "<[("]
            frames = max(1, self._sphinx.n_frames())
            return Hypothesis(
                tuple(_VARIANT.sub("", part.word) for part in segments),
                tuple(float(part.prob) for part in segments),
                score=float(np.log(hypothesis.best_score)) * SCORE_SHIFT / frames,
            )
        except RuntimeError as error:
            raise failure(error) from error


def failure(error: RuntimeError) -> RecogniserError:
    """Return the RecogniserError for an error of pocketsphinx."""
    return RecogniserError(
        "PocketSphinx could not decode this utterance: {error}", hint="Say it again.", error=error
    )


def new_sphinx(dictionary: Path | None, **options: Any) -> Any:
    """Return a pocketsphinx.Decoder with a dictionary (None = the complete one). ModelError if
    pocketsphinx or its model is missing.
    """
    try:
        import pocketsphinx

        english = pocketsphinx.get_model_path("en-us")
        return pocketsphinx.Decoder(
            lm=None,
            loglevel="FATAL",
            hmm=native_path(f"{english}/en-us"),
            dict=native_path(dictionary or f"{english}/cmudict-en-us.dict"),
            **options,
        )
    except (ImportError, RuntimeError, ValueError) as error:
        raise incomplete(error) from error


def decode_whole(sphinx: Any, pcm: Pcm) -> None:
    """Search a complete utterance [S] with a pocketsphinx.Decoder. RuntimeError if it fails."""
    sphinx.start_utt()
    sphinx.process_raw(sixteen_bit(pcm), full_utt=True)
    sphinx.end_utt()


def sixteen_bit(pcm: Pcm) -> bytes:
    """Convert samples to 16-bit bytes; clip, as resampling may exceed full scale."""
    return (np.clip(pcm, -1, 1) * 32767.0).astype("<i2").tobytes()
