"""What of Whisper's output is believed."""

import math
from dataclasses import dataclass

import pytest

from engine.asr.whisper.gates import Belief, Gates, believe, join


@dataclass(frozen=True)
class Said:
    text: str = " what time is it"
    avg_logprob: float = -0.2
    no_speech_prob: float = 0.01
    compression_ratio: float = 1.1


def text_of(*segments: Said, speech_s: float = 2.0) -> str:
    return believe(segments, speech_s=speech_s, gates=Gates()).text


def test_what_is_likely_is_believed_and_trimmed_and_doubtful_text_is_not():
    surely_speech = Said(no_speech_prob=0.9, avg_logprob=-0.1)
    beside_doubt = (Said(), Said(text="and so on", avg_logprob=-3.0))
    for said in ((Said(),), (surely_speech,), beside_doubt):
        assert text_of(*said) == "what time is it"
    silence, guess = Said(no_speech_prob=0.9, avg_logprob=-0.7), Said(avg_logprob=-1.2)
    for doubtful in (silence, guess, Said(compression_ratio=2.6), Said(text="   ")):
        assert believe([doubtful], speech_s=2.0, gates=Gates()) == Belief("", 0.0)


def test_a_sentence_nobody_can_say_in_a_cough_is_not_believed():
    thanks = Said(text="Thank you for watching!")
    assert text_of(thanks, speech_s=0.3) == ""
    assert text_of(thanks, speech_s=1.2) == "Thank you for watching!"


def test_confidence_grows_with_the_probability_and_falls_with_silence_and_what_was_dropped():
    def confidence(*said: Said) -> float:
        return believe(said, speech_s=5.0, gates=Gates()).confidence

    assert confidence(Said(no_speech_prob=0.0)) == pytest.approx(math.exp(-0.2))
    assert confidence(Said(avg_logprob=-0.1)) > confidence(Said(avg_logprob=-0.5))
    assert confidence(Said(no_speech_prob=0.0)) > confidence(Said(no_speech_prob=0.4))
    joined = join([Belief("aaa", 1.0), Belief("", 0.0), Belief("b", 0.0)])
    assert joined == Belief("aaa b", 0.75)  # pieces weigh by their letters
    beside = confidence(Said(), Said(avg_logprob=-3.0))
    assert beside == pytest.approx(confidence(Said()) / 2)
