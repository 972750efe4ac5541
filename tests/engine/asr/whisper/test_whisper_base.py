"""The recogniser that people get: Whisper base with its real weights, out of its packages."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.asr.base import SAMPLE_RATE, Recogniser
from engine.asr.pick import ASSET, load
from engine.settings import RecogniserSettings
from tests.engine.asr.conftest import pushed
from tests.help.machine.packaged import packaged_asset

pytestmark = pytest.mark.weights

PHRASES = ["stop", "slower", "what time is it"]
QUESTION = "how do bees find their way home"


@pytest.fixture(scope="module")
def folder() -> Path:
    return packaged_asset(ASSET)


@pytest.fixture(scope="module")
def english(folder) -> Iterator[Recogniser]:
    recogniser = load(RecogniserSettings("whisper", str(folder)), PHRASES)
    yield recogniser
    recogniser.close()


def plain(text: str) -> str:
    return text.lower().strip(" .?!,")


def test_an_open_question_is_understood_word_for_word(english, say):
    transcript = pushed(english, say(QUESTION)).finish()
    assert (plain(transcript.text), transcript.recogniser) == (QUESTION, "whisper")
    assert transcript.confidence > 0.5


def test_the_text_so_far_is_the_beginning_and_more_may_follow(english, say):
    recognition = pushed(english, say(QUESTION)[: 2 * SAMPLE_RATE])
    assert plain(recognition.partial()).startswith("how do bees")
    assert plain(recognition.peek()) != QUESTION
    recognition.push(say(QUESTION)[2 * SAMPLE_RATE :])
    interim = recognition.interim(lambda: True)
    assert interim is not None
    assert plain(interim.text) == QUESTION
    recognition.push(say("what time is it"))
    whole = plain(recognition.finish().text)
    assert whole.startswith("how do")
    assert whole.endswith("what time is it")


def test_a_halt_is_heard_at_the_first_look_and_noise_says_nothing(english, say):
    for text in ("stop", "wait"):
        overlapping = pushed(english, say(text)).overlapping()
        assert (overlapping.text, overlapping.recogniser) == (text, "sphinx")
    for level in (0.003, 0.1):
        noise = np.random.default_rng(1).normal(0, level, 5 * SAMPLE_RATE).astype(np.float32)
        recognition = pushed(english, noise)
        assert recognition.partial() == ""
        assert recognition.finish().text == ""


def test_half_a_minute_is_heard_to_the_end(english, say):
    sentences = (
        "the river rises in the hills and runs slowly to the sea",
        "in spring the meadows are under water for many weeks",
        "later in the year the grass is cut and dried",
        "people go from house to house by boat",
        "my grandmother kept bees behind the barn",
        "every autumn we carried jars of honey to the market",
    )
    pcm = np.concatenate([say(sentence) for sentence in (*sentences, *sentences[:3], QUESTION)])
    assert len(pcm) > 25 * SAMPLE_RATE
    text = plain(pushed(english, pcm).finish().text)
    assert text.startswith("the river rises")
    assert text.endswith("way home")


def test_the_language_is_told_where_it_was_left_to_the_model(folder, say):
    recogniser = load(RecogniserSettings("whisper", str(folder), language="auto"), PHRASES)
    transcript = pushed(recogniser, say(QUESTION)).finish()
    recogniser.close()
    assert (plain(transcript.text), transcript.language) == (QUESTION, "en")
