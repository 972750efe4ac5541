"""One pocketsphinx decoder: an acoustic model, a dictionary and searches by name.

Invariant: pocketsphinx holds Python's lock while it searches, so audio goes in by slices of 100 ms.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from engine.asr.base import SAMPLE_RATE
from engine.asr.sphinx.decision import Hypothesis
from engine.asr.sphinx.english import incomplete
from engine.audio.pcm import Pcm
from engine.errors import RecogniserError
from engine.native_paths import native_path

SLICE = SAMPLE_RATE // 10 * 2  # bytes of 16-bit samples
MAX_STATES = 5000  # of the search per frame: no worse on clean speech, bounds the time on noise
SCORE_SHIFT = 1024  # pocketsphinx keeps the logarithm of a search's score divided by this
MEAN = "mean"  # the search that only measures the spectral mean
ANY_WORD = "a"  # that one expects

_VARIANT = re.compile(r"\(\d+\)$")  # "a(2)": the second pronunciation of "a"


def always() -> bool:
    """The work is always wanted."""
    return True


class Searches:
    """One thing at a time: start(), feed(), end(); or search() for all of it at once."""

    def __init__(self, dictionary: Path | None = None) -> None:
        """With the dictionary of this file, which has ANY_WORD; None = the whole one. ModelError
        when pocketsphinx or its model is missing.
        """
        self._sphinx = _new_sphinx(dictionary)
        self.add_grammar(MEAN, [(0, 1, 1.0, ANY_WORD)])
        self.usual_mean = str(self._sphinx.get_cmn())

    def add_grammar(self, name: str, transitions: list[tuple[int, int, float, str]]) -> None:
        """From state 0 to state 1."""
        self._sphinx.add_fsg(name, self._sphinx.create_fsg(name, 0, 1, transitions))

    def add_file(self, name: str, file: Path) -> None:
        """A language model as ARPA text."""
        self._sphinx.add_lm_file(name, native_path(file))

    def add_model(self, name: str, model: Any) -> None:
        """A language model that is in memory already."""
        self._sphinx.add_lm(name, model)

    def be_quick(self) -> None:
        """Searches added from now on have no second pass. It improves only what is final, and takes
        a third of the time, all of it at the end of speech.
        """
        self._sphinx.config["fwdflat"] = self._sphinx.config["bestpath"] = False

    def start(self, search: str, mean: str) -> None:
        """Begin to listen, with this spectral mean."""
        self._sphinx.activate_search(search)
        self._sphinx.set_cmn(mean)
        self._sphinx.start_utt()

    def feed(self, pcm: Pcm, wanted: Callable[[], bool] = always) -> bool:
        """More samples [S]; False when they were not `wanted` to the end. RecogniserError when
        pocketsphinx fails.
        """
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
        """So far."""
        hypothesis = self._sphinx.hyp()
        return [] if hypothesis is None else str(hypothesis.hypstr).split()

    def end(self) -> None:
        self._sphinx.end_utt()

    def mean(self, pcm: Pcm, before: str) -> str:
        """The cepstral mean of the whole utterance: subtracted, it takes away room and microphone.
        `before` it was that of another. RecogniserError when pocketsphinx fails.

        In a simulated room it halves the errors of the mean guessed while streaming. A search for
        one word carries it, at a hundredth of the time of a real one.
        """
        # Forget the noise of the last utterance. What this pass learns of this one's noise stays
        # for the next: wrong words fell from 15 to 9 % (clean) and from 19 to 12 % (room).
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
        """One search over samples [S]; None when it was given up. RecogniserError as of feed()."""
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
    """The RecogniserError for an error of pocketsphinx."""
    return RecogniserError(
        "PocketSphinx could not decode this utterance: {error}", hint="Say it again.", error=error
    )


def _new_sphinx(dictionary: Path | None) -> Any:
    try:
        import pocketsphinx

        english = pocketsphinx.get_model_path("en-us")
        return pocketsphinx.Decoder(
            lm=None,
            loglevel="FATAL",
            maxhmmpf=MAX_STATES,
            hmm=native_path(f"{english}/en-us"),
            dict=native_path(dictionary or f"{english}/cmudict-en-us.dict"),
        )
    except (ImportError, RuntimeError, ValueError) as error:
        raise incomplete(error) from error


def decode_whole(sphinx: Any, pcm: Pcm) -> None:
    """Have a pocketsphinx.Decoder search one whole utterance of samples [S]. RuntimeError."""
    sphinx.start_utt()
    sphinx.process_raw(sixteen_bit(pcm), full_utt=True)
    sphinx.end_utt()


def sixteen_bit(pcm: Pcm) -> bytes:
    """Samples as pocketsphinx takes them; resampled ones may exceed full scale."""
    return (np.clip(pcm, -1, 1) * 32767.0).astype("<i2").tobytes()
