"""PocketSphinx: the recogniser that works when nothing was downloaded.

Its open language model mishears one word in three of real speech, so an utterance is first decoded
with a model of the sentences the built-in skills understand, and with the open one only when that
is unsure. Invariant: what is final depends on the utterance alone; the streaming pass, whose
spectral mean is a guess, gives only the text so far.

pocketsphinx holds Python's lock while it searches, so audio goes in by slices of 100 ms.
"""

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.asr.base import SAMPLE_RATE, RecogniserInfo, Transcript
from engine.asr.decision import Heard, Likely, choose, sure
from engine.asr.kept import Clip, KeptAudio
from engine.asr.phrase_model import PhraseModel
from engine.asr.pronounce import pronounce
from engine.audio.vad import Vad
from engine.errors import ModelError, RecogniserError

NAME = "sphinx"
SLICE = SAMPLE_RATE // 10 * 2  # bytes of 16-bit samples
MAX_STATES = 5000  # of the search per frame: no worse on clean speech, bounds the time on noise
LIMIT_S = 12  # a longer utterance is settled piece by piece
CUT_S = 3
PAUSE_MS = 1500
MARGIN_MS = 300  # of silence around speech: the search wants to hear it begin
STRAY_STEPS = 1  # of the text so far: more are other talk pressed into the skills' words
SCORE_SHIFT = 1024  # pocketsphinx keeps the logarithm of a search's score divided by this

Pcm = npt.NDArray[np.float32]
_VARIANT = re.compile(r"\(\d+\)$")  # "a(2)": the second pronunciation of "a"


class SphinxRecogniser:
    """A loaded decoder with the skills' language model beside the open one."""

    def __init__(self, phrases: Sequence[str]) -> None:
        """Load in about a second; without usable phrases only the open model is used. ModelError
        when pocketsphinx or its model is missing.
        """
        self._decoder = _Decoder(PhraseModel(phrases))
        self._vad = Vad()
        self._recognition: SphinxRecognition | None = None

    @property
    def info(self) -> RecogniserInfo:
        size = self._decoder.phrases.size
        return RecogniserInfo(NAME, f"PocketSphinx, English; expects {size} phrases")

    def open(self) -> "SphinxRecognition":
        """The next utterance; one still open is thrown away."""
        self.close()
        self._recognition = SphinxRecognition(self._decoder, self._vad)
        return self._recognition

    def close(self) -> None:
        if self._recognition is not None:
            self._recognition.close()
            self._recognition = None


class SphinxRecognition:
    """One utterance: a streaming pass for the text so far, and the audio for the final ones."""

    def __init__(self, decoder: "_Decoder", vad: Vad) -> None:
        self._decoder = decoder
        self._kept = KeptAudio(vad, limit_s=LIMIT_S, cut_s=CUT_S)
        self._settled: list[Likely] = []
        self._open = True
        decoder.begin()

    def push(self, pcm: Pcm) -> None:
        """Search samples [S] with the skills' model; a long utterance is settled on the way."""
        clean = self._kept.push(pcm)
        self._decoder.feed(_sixteen_bit(clean))
        while self._kept.full:
            self._decoder.end()
            self._settled.append(self._decoder.decode(self._kept.take_head()))
            self._decoder.begin()
            self._decoder.feed(_sixteen_bit(self._kept.clip().pcm))

    def partial(self) -> str:
        """Best text so far by the skills' model."""
        return " ".join(filter(None, [*(piece.text for piece in self._settled), self._now()]))

    def finish(self) -> Transcript:
        """Decode all of it, carefully; RecogniserError when pocketsphinx fails."""
        clip, settled = self._kept.clip(), self._settled
        self.close()
        pieces = [piece for piece in [*settled, self._decoder.decode(clip)] if piece.text]
        if not pieces:
            return Transcript("", 0.0, NAME)
        words = [len(piece.text.split()) for piece in pieces]
        confidence = float(np.average([piece.confidence for piece in pieces], weights=words))
        return Transcript(" ".join(piece.text for piece in pieces), confidence, NAME)

    def close(self) -> None:
        if self._open:
            self._open = False
            self._decoder.end()

    def _now(self) -> str:
        return self._decoder.text() if self._open else ""


class _Decoder:
    """pocketsphinx with four searches over one acoustic model and one dictionary."""

    STREAMING, PHRASES, OPEN, MEAN = "streaming", "phrases", "open", "mean"

    def __init__(self, phrases: PhraseModel) -> None:
        self.phrases = phrases
        self._sphinx = _new_sphinx()
        self._add_searches()
        self._mean = str(self._sphinx.get_cmn())  # of the last utterance with words

    def begin(self) -> None:
        """Start the streaming pass."""
        self._start(self.STREAMING, self._mean)

    def feed(self, samples: bytes) -> None:
        for first in range(0, len(samples), SLICE):
            self._sphinx.process_raw(samples[first : first + SLICE], False, False)

    def text(self) -> str:
        """The streaming pass so far; words that no phrase explains are an ellipsis."""
        hypothesis = self._sphinx.hyp()
        words = [] if hypothesis is None else str(hypothesis.hypstr).split()
        if not self.phrases.size:
            return " ".join(words)
        shown = self.phrases.likely_start(words, unseen=STRAY_STEPS)
        return " ".join(words[:shown]) + ("…" if shown < len(words) else "")

    def end(self) -> None:
        self._sphinx.end_utt()

    def decode(self, clip: Clip) -> Likely:
        """What was said in a clip, by whichever language model is the likelier."""
        spoken = clip.spoken(pause_ms=PAUSE_MS, margin_ms=MARGIN_MS)
        if len(spoken) == 0:
            return Likely("", 0.0)
        samples = _sixteen_bit(spoken)
        try:
            return self._decode(samples)
        except RuntimeError as error:
            raise RecogniserError(
                f"PocketSphinx could not decode this utterance: {error}", hint="Say it again."
            ) from error

    def _decode(self, samples: bytes) -> Likely:
        mean = self._spectral_mean(samples)
        if not self.phrases.size:
            return self._remember(mean, choose(None, self._search(self.OPEN, mean, samples)))
        expected = self._search(self.PHRASES, mean, samples)
        if not expected.words:
            return Likely("", 0.0)
        certain = sure(expected)
        if certain is None:
            certain = choose(expected, self._search(self.OPEN, mean, samples))
        return self._remember(mean, certain)

    def _remember(self, mean: str, said: Likely) -> Likely:
        if said.text:
            self._mean = mean
        return said

    def _spectral_mean(self, samples: bytes) -> str:
        """The cepstral mean of the whole utterance: subtracted, it takes away room and microphone.

        In a simulated room it halves the errors of the mean guessed while streaming. A search for
        one word carries it, at a hundredth of the time of a real one.
        """
        # Forget the noise of the last utterance; what this pass learns of the noise helps the next.
        self._sphinx.reinit_feat()
        self._start(self.MEAN, self._mean)
        self._sphinx.process_raw(samples, True, True)
        mean = str(self._sphinx.get_cmn(False))
        self._sphinx.end_utt()
        return mean

    def _search(self, search: str, mean: str, samples: bytes) -> Heard:
        self._start(search, mean)
        self.feed(samples)
        self._sphinx.end_utt()
        hypothesis = self._sphinx.hyp()
        if hypothesis is None:
            return Heard((), (), 0, 0.0)
        spoken = [part for part in self._sphinx.seg() if part.word[0] not in "<["]
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
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "phrases.lm")
            self.phrases.write(file)
            sphinx.add_lm_file(self.PHRASES, str(file))
            # The second pass over the words found improves only what is final, and takes a third
            # of the time, all of it at the end of speech. A search reads this when it is added.
            sphinx.config["fwdflat"] = sphinx.config["bestpath"] = False
            sphinx.add_lm_file(self.STREAMING, str(file))


def _new_sphinx() -> Any:
    try:
        import pocketsphinx

        return pocketsphinx.Decoder(lm=None, loglevel="FATAL", maxhmmpf=MAX_STATES)
    except (ImportError, RuntimeError, ValueError) as error:
        raise ModelError(
            f"The built-in recogniser does not load: {error}",
            hint="The package pocketsphinx or its model en-us is missing; install Rubato again.",
        ) from error


def _sixteen_bit(pcm: Pcm) -> bytes:
    return (pcm * 32767.0).astype("<i2").tobytes()
