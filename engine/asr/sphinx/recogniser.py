"""PocketSphinx, the recogniser that works without a download.

Its open language model gets one word in three of real speech wrong. So an utterance is first
decoded with a model of the built-in skills' sentences, and with the open model only if that result
is unsure. Invariant: the final text depends on the utterance alone. The streaming pass, whose
spectral mean is a guess, gives only the text so far.
"""

from collections.abc import Callable, Sequence

import numpy as np

from engine.asr.base import RecogniserInfo, Transcript
from engine.asr.phrase_model import learn_phrases
from engine.asr.pick import check_language
from engine.asr.sphinx.decoder import NAME, NOTHING, SphinxDecoder
from engine.asr.utterance import Clip, UtteranceAudio
from engine.audio.pcm import Pcm
from engine.audio.vad import Vad
from engine.settings import RecogniserSettings

LIMIT_S = 12  # a longer utterance is decoded piece by piece
CUT_S = 3


class SphinxRecogniser:
    """A loaded decoder with the skills' language model and the open one."""

    def __init__(self, phrases: Sequence[str], *, any_english: bool = True) -> None:
        """Load in about a second; without usable phrases only the open model is used. Without
        `any_english` a Recognition supports only interjection(), command() and the text so far, in
        a seventh of the memory. ModelError if pocketsphinx or its model is missing.
        """
        self._decoder = SphinxDecoder(learn_phrases(tuple(phrases)), any_english=any_english)
        self._vad = Vad()
        self._recognition: SphinxRecognition | None = None

    @property
    def info(self) -> RecogniserInfo:
        size = self._decoder.phrases.size
        return RecogniserInfo(NAME, f"PocketSphinx, English; expects {size} phrases")

    def open(self) -> "SphinxRecognition":
        """Open the next utterance; one that is still open is discarded."""
        self.close()
        self._recognition = SphinxRecognition(self._decoder, self._vad)
        return self._recognition

    def adjust(self, settings: RecogniserSettings) -> None:
        """ModelError for any language except English."""
        check_language(settings.language)

    def close(self) -> None:
        if self._recognition is not None:
            self._recognition.close()
            self._recognition = None


class SphinxRecognition:
    """One utterance: a streaming pass for the text so far, and the audio for the final passes."""

    def __init__(self, decoder: SphinxDecoder, vad: Vad) -> None:
        self._decoder = decoder
        self._audio = UtteranceAudio(vad, limit_s=LIMIT_S, cut_s=CUT_S)
        self._settled: list[Transcript] = []
        self._decoded = ""  # text of the audio before the streaming pass began
        self._open = False
        self._begin()

    def push(self, pcm: Pcm) -> None:
        """Search samples [S] with the skills' model; decode the head of a long utterance."""
        clean = self._audio.push(pcm)
        self._decoder.feed(clean)
        while self._audio.full:
            self.close()
            self._settled.append(self._decoder.decode(self._audio.take_head()) or NOTHING)
            self._decoded = ""
            self._begin()
            self._decoder.feed(self._audio.clip().pcm)

    def partial(self) -> str:
        """Return the last interim transcript, continued by the streaming pass."""
        return " ".join(filter(None, [*(piece.text for piece in self._settled), self._now()]))

    def peek(self) -> str:
        """Return partial(), which is already the quickest."""
        return self.partial()

    def expects(self, words: Sequence[str]) -> bool:
        """Return whether all transitions between these words occur in the skills' sentences."""
        return bool(words) and self._decoder.phrases.unseen(words) == 0

    def interim(self, wanted: Callable[[], bool]) -> Transcript | None:
        """Decode the complete audio with the thorough search. The streaming pass restarts with the
        next samples, as a decoder runs one search at a time.
        """
        return self._interim(lambda clip: self._decoder.decode(clip, wanted))

    def overlapping(self) -> Transcript:
        """As interim(); a short utterance is first matched with the interjections."""
        transcript = self.interjection() or self.interim(lambda: True)
        assert transcript is not None, "wanted to the end"
        return transcript

    def interjection(self) -> Transcript | None:
        """Return a halt or a nod if it was certainly one, see engine/text/barge_in_words.py."""
        return self._interim(self._decoder.decode_overlapping)

    def command(self, wanted: Callable[[], bool]) -> Transcript | None:
        """Return a short sentence of a skill if it was certainly one and is still `wanted`."""
        return self._interim(lambda clip: self._decoder.decode_command(clip, wanted))

    def phrase(self, wanted: Callable[[], bool]) -> Transcript | None:
        """Return the likeliest sentence in the skills' words. None if `wanted` turned false."""
        return self._interim(lambda clip: self._decoder.decode_phrase(clip, wanted))

    def finish(self) -> Transcript:
        """Decode the complete audio thoroughly. RecogniserError if pocketsphinx fails."""
        self.close()
        last = self._decoder.decode(self._audio.clip()) or NOTHING
        return _joined([*self._settled, last])

    def _interim(self, decode: Callable[[Clip], Transcript | None]) -> Transcript | None:
        before = self._now()
        self.close()
        last = decode(self._audio.clip())
        self._decoded = before if last is None else last.text
        self._begin()
        return None if last is None else _joined([*self._settled, last])

    def close(self) -> None:
        """End the streaming pass if it is running."""
        if self._open:
            self._open = False
            self._decoder.end()

    def _begin(self) -> None:
        self._decoder.begin()
        self._open = True

    def _now(self) -> str:
        streamed = self._decoder.text() if self._open else ""
        return " ".join(filter(None, [self._decoded, streamed]))


def _joined(pieces: Sequence[Transcript]) -> Transcript:
    """Join consecutive pieces of one utterance; the confidence is the mean over words."""
    pieces = [piece for piece in pieces if piece.text]
    if not pieces:
        return NOTHING
    words = [len(piece.text.split()) for piece in pieces]
    confidence = float(np.average([piece.confidence for piece in pieces], weights=words))
    return Transcript(" ".join(piece.text for piece in pieces), confidence, NAME)
