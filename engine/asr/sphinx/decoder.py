"""Two pocketsphinx decoders: one for the words of the skills' phrases and of interjections during a
reply, one for all of English.

The first has a quick search for the text so far, a thorough one, and one for interjections. With a
dictionary of some hundred words it takes 12 MB; the other takes 90. Invariant: the decoded text
depends only on the clip and on the mean that its search starts with.
"""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from engine.asr.base import SAMPLE_RATE
from engine.asr.phrase_model import PhraseModel
from engine.asr.sphinx.decision import Guess, Hypothesis, choose, overlapping, sure
from engine.asr.sphinx.english import trigrams, write_dictionary, write_known
from engine.asr.sphinx.searches import ANY_WORD, Searches, always
from engine.asr.utterance import Clip
from engine.audio.pcm import Pcm
from engine.text.barge_in_words import HALTS, NODS

PAUSE_MS = 1500
MARGIN_MS = 300  # of silence around speech: the search needs to hear the beginning
OVERLAP_S = 1.7  # of speech with those margins; longer speech is a sentence
COMMAND = 0.95  # minimum probability to accept a phrase without a better recogniser's opinion
STRAY_STEPS = 1  # unseen transitions in the text so far; more indicate other speech
STREAMING, PHRASES, OPEN, OVERLAPS = "streaming", "phrases", "open", "overlaps"


class SphinxDecoder:
    """Both decoders, and the start mean of the next utterance."""

    def __init__(self, phrases: PhraseModel, *, any_english: bool = True) -> None:
        """Without `any_english`, and with phrases, decode() is not allowed. ModelError if
        pocketsphinx or its model is missing.
        """
        self.phrases = phrases
        self._any_english = any_english or not phrases.size
        self._open: Searches | None = None  # None = not loaded (yet)
        self._phrase_searches = _phrase_searches(phrases) if phrases.size else self._any
        self._mean = self._phrase_searches.usual_mean  # of the last utterance with words

    def begin(self) -> None:
        """Start the streaming pass."""
        if self._any_english:
            self._load_english()
        self._phrase_searches.start(STREAMING, self._mean)

    def feed(self, pcm: Pcm) -> None:
        """Append samples [S] to the streaming pass. RecogniserError if pocketsphinx fails."""
        self._phrase_searches.feed(pcm)

    def text(self) -> str:
        """Return the streaming pass's text; words outside all phrases become an ellipsis."""
        words = self._phrase_searches.words()
        if not self.phrases.size:
            return " ".join(words)
        shown = self.phrases.likely_start(words, unseen=STRAY_STEPS)
        return " ".join(words[:shown]) + ("…" if shown < len(words) else "")

    def end(self) -> None:
        """End the streaming pass."""
        self._phrase_searches.end()

    def decode(self, clip: Clip, wanted: Callable[[], bool] = always) -> Guess | None:
        """Decode a clip with the likelier language model. None if `wanted` turned false."""
        speech = clip.spoken(pause_ms=PAUSE_MS, margin_ms=MARGIN_MS)
        if len(speech) == 0:
            return Guess("", 0.0)
        phrase = None
        if self.phrases.size:
            mean = self._phrase_searches.mean(speech, self._mean)
            phrase = self._search(self._phrase_searches, PHRASES, mean, speech, wanted)
            if phrase is None:
                return None
            if not phrase.words:
                return Guess("", 0.0)
            certain = sure(phrase)
            if certain is not None:
                return self._remember(mean, certain)
        mean = self._any.mean(speech, self._mean)
        free = self._search(self._any, OPEN, mean, speech, wanted)
        return None if free is None else self._remember(mean, choose(phrase, free))

    def decode_overlapping(self, clip: Clip) -> Guess | None:
        """Return a halt or a nod, as short speech during a reply often is one; otherwise None."""
        speech = self._short(clip)
        if speech is None:
            return None
        mean = self._phrase_searches.mean(speech, self._mean)
        short = self._search(self._phrase_searches, OVERLAPS, mean, speech, always)
        phrase = self._search(self._phrase_searches, PHRASES, mean, speech, always)
        assert short is not None, "wanted to the end"
        assert phrase is not None, "wanted to the end"
        return overlapping(short, phrase)

    def decode_command(self, clip: Clip, wanted: Callable[[], bool] = always) -> Guess | None:
        """Return a short phrase if its probability reaches COMMAND, above the limit of decode()."""
        speech = self._short(clip)
        phrase = None if speech is None else self._phrase(speech, wanted)
        certain = sure(phrase) if phrase is not None and phrase.words else None
        return certain if certain is not None and certain.confidence >= COMMAND else None

    def decode_phrase(self, clip: Clip, wanted: Callable[[], bool] = always) -> Guess | None:
        """Return the phrase model's best text of a clip. None if `wanted` turned false."""
        speech = clip.spoken(pause_ms=PAUSE_MS, margin_ms=MARGIN_MS)
        if len(speech) == 0:
            return Guess("", 0.0)
        phrase = self._phrase(speech, wanted)
        return None if phrase is None else Guess(" ".join(phrase.words), phrase.least)

    def _phrase(self, pcm: Pcm, wanted: Callable[[], bool]) -> Hypothesis | None:
        mean = self._phrase_searches.mean(pcm, self._mean)
        return self._search(self._phrase_searches, PHRASES, mean, pcm, wanted)

    @property
    def _any(self) -> Searches:
        assert self._any_english, "loaded with any_english"
        return self._load_english()

    def _load_english(self) -> Searches:
        """Load when speech begins; that takes half a second. Loading at start would take a tenth of
        the start time, and 90 MB that may never be used.
        """
        if self._open is None:
            self._open = _any_english(streaming=not self.phrases.size)
        return self._open

    def _short(self, clip: Clip) -> Pcm | None:
        """Return the speech if it is hardly longer than a word or two, otherwise None."""
        speech = clip.spoken(pause_ms=PAUSE_MS, margin_ms=MARGIN_MS)
        short = 0 < len(speech) <= OVERLAP_S * SAMPLE_RATE and self.phrases.size
        return speech if short else None

    def _remember(self, mean: str, guess: Guess) -> Guess:
        if guess.text:
            self._mean = mean
        return guess

    def _search(
        self, decoder: Searches, name: str, mean: str, pcm: Pcm, wanted: Callable[[], bool]
    ) -> Hypothesis | None:
        """Run one search over samples [S]; None if `wanted` turned false."""
        found = decoder.search(name, mean, pcm, wanted)
        if found is None or not found.words:
            return found
        return replace(found, unseen=self.phrases.unseen(found.words))


def transitions() -> list[tuple[int, int, float, str]]:
    """Return the interjections during a reply (engine/text/barge_in_words.py) as a grammar from
    state 0 to state 1: (state, next state, probability, word). All texts are equally likely.

    A recogniser for sentences seldom gets a lone word right; choosing among few works much better
    (decision.overlapping).
    """
    texts = [text.split() for text in (*HALTS, *NODS)]
    steps: list[tuple[int, int, float, str]] = []
    states = 2
    for words in texts:
        state, chance = 0, 1 / len(texts)
        for word in words[:-1]:
            steps.append((state, states, chance, word))
            state, chance = states, 1.0
            states += 1
        steps.append((state, 1, chance, words[-1]))
    return steps


def _phrase_searches(phrases: PhraseModel) -> Searches:
    """Return a decoder of the words in phrases and interjections."""
    with tempfile.TemporaryDirectory() as folder:
        dictionary, model = Path(folder, "phrases.dict"), Path(folder, "phrases.lm")
        overlaps = [word for *_, word in transitions()]
        write_dictionary([ANY_WORD, *overlaps, *phrases.words], dictionary)
        phrases.write(model)
        searches = Searches(dictionary)
        searches.add_file(PHRASES, model)
        searches.be_quick()
        searches.add_file(STREAMING, model)
        searches.add_grammar(OVERLAPS, transitions())  # few words need no second pass
    return searches


def _any_english(*, streaming: bool) -> Searches:
    """Return a decoder of every word; with `streaming` also for the text so far."""
    with tempfile.TemporaryDirectory() as folder:
        dictionary = Path(folder, "english.dict")
        write_known(dictionary)
        any_english = Searches(dictionary)
    any_english.add_model(OPEN, trigrams())
    if streaming:
        any_english.add_model(STREAMING, trigrams())
    return any_english
