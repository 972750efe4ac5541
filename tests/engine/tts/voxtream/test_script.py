"""The text side of an utterance, as rows of the phone transformer."""

import torch

from engine.tts.base import Voice
from engine.tts.voxtream.alignment import Span
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser

WORDS = ["Hello", "wonderful", "world,", "this", "is", "the", "apple", "of", "my", "eye."]


def test_an_utterance_may_linger_on_the_last_phone_of_the_prompt(
    synthesiser: VoxtreamSynthesiser, voice: Voice
) -> None:
    with synthesiser.open(voice, seed=1) as session:
        script, last = session._script, session._prompt.length - 1
        for text in WORDS:
            for word in session._phonemizer.push(text):
                script.add(word)
        script.close()
        lingering = Span(last, last)
        before = script.vector(lingering)
        script.forget_before(last)
        assert torch.equal(script.vector(lingering), before)
