"""pocketsphinx with five searches over one acoustic model and one dictionary.

Two expect the skills' phrases (a quick one for the text so far, a careful one), one expects any
English, one the few things people say into a reply, one only measures the spectral mean. Invariant:
pocketsphinx holds Python's lock while it searches, so audio goes in by slices of 100 ms.
"""

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.asr.asides import SOUNDS, transitions
from engine.asr.base import SAMPLE_RATE
from engine.asr.decision import Heard, Likely, aside, choose, sure
from engine.asr.kept import Clip
from engine.asr.phrase_model import PhraseModel
from engine.asr.pronounce import pronounce
from engine.errors import ModelError, RecogniserError

SLICE = SAMPLE_RATE // 10 * 2  # bytes of 16-bit samples
MAX_STATES = 5000  # of the search per frame: no worse on clean speech, bounds the time on noise
PAUSE_MS = 1500
MARGIN_MS = 300  # of silence around speech: the search wants to hear it begin
ASIDE_S = 1.7  # of speech with those margins: longer ones are sentences
COMMAND = 0.95  # at least so likely a phrase, to be believed without a better recogniser's opinion
STRAY_STEPS = 1  # of the text so far: more are other talk pressed into the skills' words
SCORE_SHIFT = 1024  # pocketsphinx keeps the logarithm of a search's score divided by this

Pcm = npt.NDArray[np.float32]
_VARIANT = re.compile(r"\(\d+\)$")  # "a(2)": the second pronunciation of "a"


def _always() -> bool:
    """Work is given up only by who may want it no longer."""
    return True


class SphinxDecoder:
    """pocketsphinx with five searches over one acoustic model and one dictionary."""

    STREAMING, PHRASES, OPEN, MEAN = "streaming", "phrases", "open", "mean"
    ASIDES = "asides"

    def __init__(self, phrases: PhraseModel) -> None:
        self.phrases = phrases
        self._sphinx = _new_sphinx()
        self._add_searches()
        self._mean = str(self._sphinx.get_cmn())  # of the last utterance with words

    def begin(self) -> None:
        """Start the streaming pass."""
        self._start(self.STREAMING, self._mean)

    def feed(self, pcm: Pcm, wanted: Callable[[], bool] = _always) -> bool:
        """More samples [S] for the pass that runs; False when they were not `wanted` to the end.
        RecogniserError when pocketsphinx fails.
        """
        samples = _sixteen_bit(pcm)
        try:
            for first in range(0, len(samples), SLICE):
                if not wanted():
                    return False
                self._sphinx.process_raw(samples[first : first + SLICE], False, False)
        except RuntimeError as error:
            raise _failure(error) from error
        return True

    def text(self) -> str:
        """The streaming pass so far; words that no phrase explains are an ellipsis."""
        hypothesis = self._sphinx.hyp()
        words = [] if hypothesis is None else str(hypothesis.hypstr).split()
        if not self.phrases.size:
            return " ".join(words)
        shown = self.phrases.likely_start(words, unseen=STRAY_STEPS)
        return " ".join(words[:shown]) + ("…" if shown < len(words) else "")

    def end(self) -> None:
        """End the streaming pass."""
        self._sphinx.end_utt()

    def decode(self, clip: Clip, wanted: Callable[[], bool] = _always) -> Likely | None:
        """What was said in a clip, by whichever language model is the likelier. None: given up, as
        it was no longer `wanted`.
        """
        spoken = clip.spoken(pause_ms=PAUSE_MS, margin_ms=MARGIN_MS)
        if len(spoken) == 0:
            return Likely("", 0.0)
        try:
            return self._decode(spoken, wanted)
        except RuntimeError as error:
            raise _failure(error) from error

    def decode_aside(self, clip: Clip) -> Likely | None:
        """What was said into a reply if it is a halt or a nod, as what is short often is."""
        spoken = self._short(clip)
        try:
            return None if spoken is None else self._aside(spoken)
        except RuntimeError as error:
            raise _failure(error) from error

    def decode_command(self, clip: Clip, wanted: Callable[[], bool] = _always) -> Likely | None:
        """A short phrase of which its model is sure beyond decode()'s needs."""
        spoken = self._short(clip)
        if spoken is None:
            return None
        try:
            expected = self._search(self.PHRASES, self._spectral_mean(spoken), spoken, wanted)
        except RuntimeError as error:
            raise _failure(error) from error
        certain = sure(expected) if expected is not None and expected.words else None
        return certain if certain is not None and certain.confidence >= COMMAND else None

    def _short(self, clip: Clip) -> Pcm | None:
        """What was spoken, if it was hardly more than a word or two."""
        spoken = clip.spoken(pause_ms=PAUSE_MS, margin_ms=MARGIN_MS)
        short = 0 < len(spoken) <= ASIDE_S * SAMPLE_RATE and self.phrases.size
        return spoken if short else None

    def _aside(self, pcm: Pcm) -> Likely | None:
        mean = self._spectral_mean(pcm)
        short = self._search(self.ASIDES, mean, pcm, _always)
        expected = self._search(self.PHRASES, mean, pcm, _always)
        assert short is not None, "wanted to the end"
        assert expected is not None, "wanted to the end"
        return aside(short, expected)

    def _decode(self, pcm: Pcm, wanted: Callable[[], bool]) -> Likely | None:
        mean = self._spectral_mean(pcm)
        expected = None
        if self.phrases.size:
            expected = self._search(self.PHRASES, mean, pcm, wanted)
            if expected is None:
                return None
            if not expected.words:
                return Likely("", 0.0)
            certain = sure(expected)
            if certain is not None:
                return self._remember(mean, certain)
        free = self._search(self.OPEN, mean, pcm, wanted)
        return None if free is None else self._remember(mean, choose(expected, free))

    def _remember(self, mean: str, said: Likely) -> Likely:
        if said.text:
            self._mean = mean
        return said

    def _spectral_mean(self, pcm: Pcm) -> str:
        """The cepstral mean of the whole utterance: subtracted, it takes away room and microphone.

        In a simulated room it halves the errors of the mean guessed while streaming. A search for
        one word carries it, at a hundredth of the time of a real one.
        """
        # Forget the noise of the last utterance. What this pass learns of this one's noise stays
        # for the next: wrong words fell from 15 to 9 % (clean) and from 19 to 12 % (room).
        self._sphinx.reinit_feat()
        self._start(self.MEAN, self._mean)
        self._sphinx.process_raw(_sixteen_bit(pcm), True, True)
        mean = str(self._sphinx.get_cmn(False))
        self._sphinx.end_utt()
        return mean

    def _search(self, search: str, mean: str, pcm: Pcm, wanted: Callable[[], bool]) -> Heard | None:
        """One search over samples [S]; None when it was given up."""
        self._start(search, mean)
        complete = self.feed(pcm, wanted)
        self._sphinx.end_utt()
        if not complete:
            return None
        hypothesis = self._sphinx.hyp()
        if hypothesis is None:
            return Heard((), (), 0, 0.0)
        spoken = [part for part in self._sphinx.seg() if part.word[0] not in "<[("]
        words = tuple(_VARIANT.sub("", part.word) for part in spoken)
        return Heard(
            words=words,
            posteriors=tuple(float(part.prob) for part in spoken),
            unseen=self.phrases.unseen(words),
            score=float(np.log(hypothesis.best_score))
            * SCORE_SHIFT
            / max(1, self._sphinx.n_frames()),
        )

    def _start(self, search: str, mean: str) -> None:
        self._sphinx.activate_search(search)
        self._sphinx.set_cmn(mean)
        self._sphinx.start_utt()

    def _add_searches(self) -> None:
        sphinx = self._sphinx
        # Imported again rather than passed on: the module is only there once the decoder is.
        from pocketsphinx import get_model_path

        grammar = sphinx.create_fsg(self.MEAN, 0, 1, [(0, 1, 1.0, "a")])
        sphinx.add_fsg(self.MEAN, grammar)
        open_model = get_model_path("en-us/en-us.lm.bin")
        sphinx.add_lm_file(self.OPEN, open_model)
        if not self.phrases.size:
            sphinx.add_lm_file(self.STREAMING, open_model)
            return
        for word in self.phrases.words:
            if sphinx.lookup_word(word) is None:
                sphinx.add_word(word, pronounce(word, sphinx.lookup_word) or "", False)
        for word, phones in SOUNDS.items():
            if sphinx.lookup_word(word) is None:
                sphinx.add_word(word, phones, True)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "phrases.lm")
            self.phrases.write(file)
            sphinx.add_lm_file(self.PHRASES, str(file))
            # The second pass over the words found improves only what is final, and takes a third
            # of the time, all of it at the end of speech. A search reads this when it is added.
            sphinx.config["fwdflat"] = sphinx.config["bestpath"] = False
            sphinx.add_lm_file(self.STREAMING, str(file))
        sphinx.add_fsg(self.ASIDES, sphinx.create_fsg(self.ASIDES, 0, 1, transitions()))


def _new_sphinx() -> Any:
    try:
        import pocketsphinx

        return pocketsphinx.Decoder(lm=None, loglevel="FATAL", maxhmmpf=MAX_STATES)
    except (ImportError, RuntimeError, ValueError) as error:
        raise ModelError(
            f"The built-in recogniser does not load: {error}",
            hint="The package pocketsphinx or its model en-us is missing; install Rubato again.",
        ) from error


def _failure(error: RuntimeError) -> RecogniserError:
    return RecogniserError(
        f"PocketSphinx could not decode this utterance: {error}", hint="Say it again."
    )


def _sixteen_bit(pcm: Pcm) -> bytes:
    return (pcm * 32767.0).astype("<i2").tobytes()
