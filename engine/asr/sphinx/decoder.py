"""Two pocketsphinx decoders: one for the words of the skills' phrases and of interjections during a
reply, one for all of English; and the choice between their hypotheses.

The first has a quick search for the text so far, a thorough one, and one for interjections. With a
dictionary of some hundred words it takes 12 MB; the other takes 90. Invariants: the decoded text
depends only on the clip and on the mean that its search starts with; confidence grows with every
posterior and falls with every transition between words that occurs in no phrase.

The weights of the choice are logistic regressions on 348 skill sentences and 208 others of five
synthetic voices (clean, quiet, in a simulated room, in noise at 15 dB). On the same set the
finished recogniser turned 4 % of the other sentences into phrases (none of the clean ones) and
decoded 4 % of the skill sentences with the open model. Of the transcripts with a confidence up to
0.2, 0.4, 0.6, 0.8 and 1.0, 14, 36, 65, 74 and 93 % were right word for word.
"""

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from engine.asr.base import SAMPLE_RATE, Transcript
from engine.asr.phrase_model import PhraseModel
from engine.asr.sphinx.english import load_trigrams, trigrams, write_dictionary, write_known
from engine.asr.sphinx.searches import ANY_WORD, Hypothesis, Searches, always
from engine.asr.utterance import Clip
from engine.audio.pcm import Pcm
from engine.text.barge_in_words import HALTS, NODS

MOST_UNSEEN = 4  # unseen transitions; more of them do not lower the confidence further
MOST_MARGIN = 2.0  # likewise for the score margin
SURE = 0.4  # minimum probability to accept a phrase without decoding again
HALT = 0.3  # minimum probability of a halt: a wrong one costs only a short pause
NOD = 0.6  # minimum probability of a nod: a sentence mistaken for one is not answered
PHRASE = 0.6  # minimum probability of a phrase after the open model has decoded too

NAME = "sphinx"
NOTHING = Transcript("", 0.0, NAME)
PAUSE_MS = 1500
MARGIN_MS = 300  # of silence around speech: the search needs to hear the beginning
OVERLAP_S = 1.7  # of speech with those margins; longer speech is a sentence
COMMAND = 0.95  # minimum probability to accept a phrase without a better recogniser's opinion
STRAY_STEPS = 1  # unseen transitions in the text so far; more indicate other speech
STREAMING, PHRASES, OPEN, OVERLAPS = "streaming", "phrases", "open", "overlaps"


def sure(phrase: Hypothesis) -> Transcript | None:
    """Return the phrase model's hypothesis if it needs no second opinion, otherwise None."""
    unseen = min(phrase.unseen, MOST_UNSEEN)
    right = _chance(-0.48, (3.83, phrase.least), (-0.71, unseen))
    if right < SURE or unseen == MOST_UNSEEN:
        return None
    return _transcript(phrase.words, right)


def overlapping(short: Hypothesis, phrase: Hypothesis) -> Transcript | None:
    """Return a halt or a nod during a reply, or None for other speech. `short` is the hypothesis of
    the search that knows only halts and nods, `phrase` that of the phrase model.

    The weights come from four voices with 16 halts, 23 nods and 24 other short utterances in noise.
    Recognised: 52 of 64 halts and 68 of 92 nods. Mistaken for halts: 2 nods and 13 of 96 others;
    mistaken for nods: 1 halt and 9 others. With eight other voices: 54 of 64 halts, 44 of 76 nods;
    6 of 64 others taken for halts, 3 halts and 8 others for nods.
    """
    text = " ".join(short.words)
    margin = max(-MOST_MARGIN, min(MOST_MARGIN, short.score - phrase.score))
    if text in HALTS:
        right, enough = _chance(3.50, (3.23, margin), (1.66, short.score)), HALT
    elif text in NODS:
        right, enough = _chance(8.52, (2.09, margin), (3.28, short.score)), NOD
    else:
        return None
    return Transcript(text, right, NAME) if right >= enough else None


def choose(phrase: Hypothesis | None, free: Hypothesis) -> Transcript:
    """Return the likelier one of two hypotheses. None = there is no phrase model."""
    if phrase is not None and free.words:
        unseen = min(phrase.unseen, MOST_UNSEEN)
        margin = max(-MOST_MARGIN, min(MOST_MARGIN, phrase.score - free.score))
        least = phrase.least
        if _chance(2.50, (2.04, least), (-0.97, unseen), (3.19, margin)) >= PHRASE:
            right = _chance(-1.63, (2.93, least), (-0.44, unseen), (1.84, margin))
            return _transcript(phrase.words, right)
    if not free.words:
        return NOTHING
    return _transcript(free.words, _chance(-2.90, (3.50, free.mean), (1.30, free.least)))


def _transcript(words: Sequence[str], right: float) -> Transcript:
    return Transcript(" ".join(words), right, NAME)


def _chance(constant: float, *terms: tuple[float, float]) -> float:
    """Return the logistic of constant + sum of weight * value."""
    return 1.0 / (1.0 + math.exp(-constant - sum(weight * value for weight, value in terms)))


class SphinxDecoder:
    """Both decoders, and the start mean of the next utterance."""

    def __init__(self, phrases: PhraseModel, *, any_english: bool = True) -> None:
        """Without `any_english`, and with phrases, decode() is not allowed. ModelError if
        pocketsphinx or its model is missing.
        """
        self.phrases = phrases
        self._any_english = any_english or not phrases.size
        self._phrase_searches = _phrase_searches(phrases) if phrases.size else self._any
        self._mean = self._phrase_searches.usual_mean  # of the last utterance with words

    def begin(self) -> None:
        """Start the streaming pass."""
        if self._any_english:
            _ = self._any  # loaded now
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

    def decode(self, clip: Clip, wanted: Callable[[], bool] = always) -> Transcript | None:
        """Decode a clip with the likelier language model. None if `wanted` turned false."""
        speech = clip.spoken(pause_ms=PAUSE_MS, margin_ms=MARGIN_MS)
        if len(speech) == 0:
            return NOTHING
        phrase = None
        if self.phrases.size:
            mean = self._phrase_searches.mean(speech, self._mean)
            phrase = self._search(self._phrase_searches, PHRASES, mean, speech, wanted)
            if phrase is None:
                return None
            if not phrase.words:
                return NOTHING
            if certain := sure(phrase):
                return self._remember(mean, certain)
        mean = self._any.mean(speech, self._mean)
        free = self._search(self._any, OPEN, mean, speech, wanted)
        return None if free is None else self._remember(mean, choose(phrase, free))

    def decode_overlapping(self, clip: Clip) -> Transcript | None:
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

    def decode_command(self, clip: Clip, wanted: Callable[[], bool] = always) -> Transcript | None:
        """Return a short phrase if its probability reaches COMMAND, above the limit of decode()."""
        speech = self._short(clip)
        phrase = None if speech is None else self._phrase(speech, wanted)
        certain = sure(phrase) if phrase is not None and phrase.words else None
        return certain if certain is not None and certain.confidence >= COMMAND else None

    def decode_phrase(self, clip: Clip, wanted: Callable[[], bool] = always) -> Transcript | None:
        """Return the phrase model's best text of a clip. None if `wanted` turned false."""
        speech = clip.spoken(pause_ms=PAUSE_MS, margin_ms=MARGIN_MS)
        if len(speech) == 0:
            return NOTHING
        phrase = self._phrase(speech, wanted)
        return None if phrase is None else _transcript(phrase.words, phrase.least)

    def _phrase(self, pcm: Pcm, wanted: Callable[[], bool]) -> Hypothesis | None:
        mean = self._phrase_searches.mean(pcm, self._mean)
        return self._search(self._phrase_searches, PHRASES, mean, pcm, wanted)

    @cached_property
    def _any(self) -> Searches:
        """All of English, loaded when speech begins; that takes half a second. Loading at start
        would take a tenth of the start time, and 90 MB that may never be used.
        """
        assert self._any_english, "loaded with any_english"
        with tempfile.TemporaryDirectory() as folder:
            dictionary = Path(folder, "english.dict")
            write_known(dictionary)
            searches = Searches(dictionary)
        searches.add_model(OPEN, trigrams())
        if not self.phrases.size:
            searches.add_model(STREAMING, trigrams())
        return searches

    def _short(self, clip: Clip) -> Pcm | None:
        """Return the speech if it is hardly longer than a word or two, otherwise None."""
        speech = clip.spoken(pause_ms=PAUSE_MS, margin_ms=MARGIN_MS)
        short = 0 < len(speech) <= OVERLAP_S * SAMPLE_RATE and self.phrases.size
        return speech if short else None

    def _remember(self, mean: str, guess: Transcript) -> Transcript:
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
    (overlapping() above).
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
        dictionary, file = Path(folder, "phrases.dict"), Path(folder, "phrases.lm")
        overlaps = [word for *_, word in transitions()]
        write_dictionary([ANY_WORD, *overlaps, *phrases.words], dictionary)
        phrases.write(file)
        searches = Searches(dictionary)
        model = load_trigrams(file)
        searches.add_model(PHRASES, model)
        searches.be_quick()
        searches.add_model(STREAMING, model)
        searches.add_grammar(OVERLAPS, transitions())  # few words need no second pass
    return searches
