"""What sessions of the systems share: words read into a passage, and an end that dies away.

Invariant: what is read next depends on the words alone, never on when they came.
"""

from typing import Protocol

from engine.audio.ending import Ending
from engine.audio.silence import SilenceLimit
from engine.text.phonemes import PhonedWord, WordPhonemizer
from engine.text.rules.punctuation import ends_sentence
from engine.tts.base import AudioFrame, Onset, Pcm, RateRange
from engine.tts.utterance import Utterance


class Script(Protocol):
    """What a passage has to say, word by word."""

    def add(self, word: PhonedWord) -> None:
        """The next word."""
        ...

    def close(self) -> None:
        """The passage's text is over."""
        ...


class PassageUtterance(Utterance):
    """One that is spoken in passages of whole sentences, each from the prompt alone."""

    def __init__(self, sample_rate: int, rates: RateRange | None = None) -> None:
        super().__init__(sample_rate, rates)
        self._last_word = ""  # taken up
        self._words_read: list[str] = []  # all words taken up
        self._silence = SilenceLimit(sample_rate)

    def _read_word(
        self, phonemizer: WordPhonemizer, script: Script, *, passage_full: bool = False
    ) -> bool:
        """Take up the next word or, at the end of the text and of a full passage, close the script.
        False when the next word has not come yet.
        """
        passage_over = passage_full and ends_sentence(self._last_word)
        if self._words and not passage_over:
            self._last_word = self._words.popleft()
            self._words_read.append(self._last_word)
            ready, closes = phonemizer.push(self._last_word), False
        elif self._ended or passage_over:
            ready, closes = phonemizer.finish(), True
        else:
            return False
        for word in ready:
            script.add(word)
        if closes:
            script.close()
        return True

    def _return_words(self, begun: int) -> None:
        """Take up the words behind the first `begun` ones of the utterance again."""
        while len(self._words_read) > begun:
            self._words.appendleft(self._words_read.pop())


class FadingUtterance(PassageUtterance):
    """One whose sound dies away behind its last frame, for a network that does not know which one
    that will be.
    """

    def __init__(self, sample_rate: int, rates: RateRange | None = None) -> None:
        super().__init__(sample_rate, rates)
        self._ending = Ending(sample_rate)

    def _packet(self, pcm: Pcm, onsets: tuple[Onset, ...] = ()) -> AudioFrame:
        self._ending.hear(pcm)
        return super()._packet(pcm, onsets)

    def _fading(self, onsets: tuple[Onset, ...] = (), least: int = 0) -> AudioFrame | None:
        """The last frame, of at least so many samples where words without a sound still need their
        place; None when nothing was heard and no word is left.
        """
        pcm = self._ending.sound(least if onsets else 0)
        return self._packet(pcm, onsets) if len(pcm) else None
