"""How much slower figures and names are spoken, and how much quicker asides, when the pace follows
the content: syllables a second by kind of word, with pacing and without.

    python -m tests.benchmarks.pacing [--engine espeak] [--rates own 3 4.5 6]

A word lasts until the next one begins. Kinds are told by the pace a word is given: careful below
0.95, quick above 1.05, plain exactly 1; the words that come back to the rate count nowhere.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Mapping

from engine.runtime.headless.offline_synthesis import (
    OfflineSynthesis,
    SpeechRequest,
    SpokenWord,
    constant,
)
from engine.runtime.headless.say_command import collect
from engine.settings import SpeechSettings
from engine.text.paced import PacedText
from engine.text.syllables import count
from engine.text.word import Word
from engine.tts import registry
from engine.tts.base import TtsModel

TEXT = (
    "You can call them at 555-123-4567 as soon as the office is open again in the morning. "
    "They sold 1,284 of these in one week, so there are only 35 left in the whole shop. "
    "It is spelled R, H, Y, T, H, M, and many people look it up again before they write it. "
    "The old bridge (which nobody uses any more in the winter) is open again for the summer. "
    "We met Marie Curie and later Albert Einstein, and then we all went home along the river. "
    "The garden — as you may have seen on the way here — is full of flowers and little birds. "
    "He lives at 12 Main Street, and he says that there is always somebody who opens the door. "
)


def kind(word: Word) -> str | None:
    """None: on its way back to the rate."""
    if word.pace == 1.0:
        return "plain"
    return "careful" if word.pace < 0.95 else "quick" if word.pace > 1.05 else None


def spoken(model: TtsModel, rate: float | None, *, pacing: bool) -> tuple[SpokenWord, ...]:
    request = SpeechRequest(TEXT, model.voices()[0], constant(rate), pacing=pacing)
    synthesis = OfflineSynthesis(model, request)
    collect(synthesis)
    return synthesis.report().words


def rates(words: tuple[SpokenWord, ...], paced: tuple[Word, ...]) -> Mapping[str, float]:
    """SPS by kind of word."""
    syllables: dict[str, int] = defaultdict(int)
    seconds: dict[str, float] = defaultdict(float)
    for said, word in zip(words, paced, strict=True):
        name = kind(word)
        if name is not None and said.text[-1] not in ".,":  # a pause follows those
            syllables[name] += count(said.text)
            seconds[name] += said.end_s - said.start_s
    return {name: syllables[name] / seconds[name] for name in ("plain", "careful", "quick")}


def main() -> None:
    parser = argparse.ArgumentParser(description="Syllables a second by kind of word.")
    parser.add_argument("--engine", default="espeak")
    parser.add_argument("--rates", nargs="*", default=["own", "3", "4.5", "6"])
    arguments = parser.parse_args()
    text = PacedText(pacing=True)
    paced = (*text.push(TEXT).words, *text.end().words)
    model = registry.load(SpeechSettings(engine=arguments.engine), lambda phrase, fraction: None)
    sys.stdout.write("rate   kind     words  off SPS  on SPS  on / off\n")
    for name in arguments.rates:
        rate = None if name == "own" else float(name)
        off = rates(spoken(model, rate, pacing=False), paced)
        on = rates(spoken(model, rate, pacing=True), paced)
        for word_kind in off:
            words = sum(kind(word) == word_kind for word in paced)
            ratio = on[word_kind] / off[word_kind]
            sys.stdout.write(
                f"{name:5}  {word_kind:7} {words:6} {off[word_kind]:8.2f} {on[word_kind]:7.2f}"
                f" {ratio:9.2f}\n"
            )
    model.close()


if __name__ == "__main__":
    main()
