"""The recogniser that needs no download, on synthetic voices."""

import threading
import time

import numpy as np
import pytest

from engine.asr.base import SAMPLE_RATE
from engine.asr.sphinx.recogniser import SphinxRecogniser
from engine.errors import ModelError, RecogniserError
from tests.engine.asr.conftest import pushed

COUNTS = ["one", "two", "three", "five", "ten", "fifteen", "twenty", "thirty", "forty five"]
PHRASES = [
    "what time is it",
    "what is the date today",
    "stop",
    "slower",
    "talk faster",
    "how do you spell necessary",
    "mute the rubato",
    *(f"set a timer for {count} minutes" for count in COUNTS),
    *(f"convert {count} miles to kilometers" for count in COUNTS),
    *(f"what is {count} plus {other}" for count in COUNTS for other in COUNTS),
]


@pytest.fixture(scope="module")
def recogniser() -> SphinxRecogniser:
    return SphinxRecogniser(PHRASES)


SKILLS = ("what time is it", "set a timer for forty five minutes", "stop")
SKILLS += ("convert ten miles to kilometers", "what is five plus twenty")
SKILLS += ("how do you spell necessary",)


@pytest.mark.parametrize("text", SKILLS)
def test_a_skill_sentence_is_heard_word_for_word(recogniser, say, text):
    heard = pushed(recogniser, say(text)).finish()
    assert (heard.text, heard.recogniser) == (text, "sphinx")
    assert 0.3 < heard.confidence <= 1.0


@pytest.mark.parametrize(
    "text", ["stop", "wait", "no", "hang on", "all right", "okay", "I know", "talk faster"]
)
def test_what_is_said_into_a_reply_is_heard_as_it_is(recogniser, say, text):
    assert pushed(recogniser, say(text)).overlapping().text == text.lower()


@pytest.mark.parametrize(
    "text",
    [
        "the children were playing in the garden",
        "she never liked the taste of coffee",
        "do you think it will rain tomorrow afternoon",
    ],
)
def test_other_talk_is_not_pressed_into_skill_sentences(recogniser, say, text):
    assert pushed(recogniser, say(text)).finish().text == text


def test_silence_and_white_noise_are_nothing_heard(recogniser):
    for level in (0.0, 0.001, 0.03, 0.2):
        noise = np.random.default_rng(5).normal(0, level, 2 * SAMPLE_RATE).astype(np.float32)
        heard = pushed(recogniser, noise).finish()
        assert (heard.text, heard.confidence) == ("", 0.0)


def test_a_quiet_voice_with_broken_samples_and_a_word_no_dictionary_has_are_heard(recogniser, say):
    pcm = say("mute the roobahtoe") * 0.05
    pcm[:200], pcm[200:400] = np.nan, np.inf
    assert pushed(recogniser, pcm).finish().text == "mute the rubato"


def test_the_transcript_depends_on_neither_the_blocks_nor_what_was_heard_before(recogniser, say):
    pcm = say("what time is it")
    whole = pushed(recogniser, pcm, len(pcm)).finish()
    assert pushed(recogniser, pcm, 320).finish() == whole
    pushed(recogniser, say("talk faster") * 0.05).finish()
    thrown_away = pushed(recogniser, say("stop"))
    thrown_away.close()
    thrown_away.close()  # twice is allowed
    assert thrown_away.partial() == ""
    assert pushed(recogniser, pcm, 1601).finish() == whole
    recognition = recogniser.open()  # an interim transcript is what the end would be
    for first in range(0, len(pcm), 8000):
        recognition.push(pcm[first : first + 8000])
        interim = recognition.interim(lambda: True)
    assert interim == whole == recognition.finish()


def test_after_an_interim_transcript_that_came_or_was_given_up_hearing_goes_on(recogniser, say):
    wanted = iter([True] * 3)
    recognition = pushed(recogniser, say("what time is it"))
    assert recognition.interim(lambda: next(wanted, False)) is None
    assert recognition.interim(lambda: True).text == "what time is it"
    assert recognition.partial() == "what time is it"
    recognition.push(say("stop"))
    assert recognition.partial().startswith("what time is it s")
    recognition.close()


def test_the_text_so_far_grows_while_the_person_speaks(recogniser, say):
    recognition = recogniser.open()
    pcm = say("set a timer for forty five minutes")
    seen = []
    for first in range(0, len(pcm), 1600):
        recognition.push(pcm[first : first + 1600])
        seen.append(recognition.partial())
    recognition.close()
    assert seen[0] == ""
    assert any(text.startswith("set a timer") for text in seen[: len(seen) * 3 // 4])
    assert seen[-1] == "set a timer for forty five minutes"


@pytest.fixture
def soon_long(monkeypatch):
    """An utterance is a long one after four seconds."""
    monkeypatch.setattr("engine.asr.sphinx.recogniser.LIMIT_S", 4)
    monkeypatch.setattr("engine.asr.sphinx.recogniser.CUT_S", 2)


@pytest.mark.usefixtures("soon_long")
def test_a_long_utterance_is_settled_while_it_lasts(recogniser, say):
    sentence, pause = say("what time is it"), np.zeros(8000, np.float32)
    recognition = pushed(recogniser, np.tile(np.concatenate([sentence, pause]), 3))
    assert "what time is it" in recognition.partial()
    assert recognition.finish().text == " ".join(["what time is it"] * 3)


@pytest.mark.slow
def test_listening_keeps_up_with_speech_and_lets_other_threads_run(recogniser, say):
    """Streaming takes a tenth of the time of speech; half is the limit on a loaded core."""
    pcm = np.tile(say("set a timer for forty five minutes"), 2)
    stop, gaps_s = threading.Event(), [0.0]

    def tick() -> None:
        last = time.process_time()  # grows while this process holds the lock, not while it waits
        while not stop.wait(0.002):
            now = time.process_time()
            gaps_s.append(now - last)
            last = now

    other = threading.Thread(target=tick)
    other.start()
    began = time.process_time()
    recognition = pushed(recogniser, pcm)
    spent_s = time.process_time() - began
    stop.set()
    other.join()
    recognition.close()
    assert spent_s < 0.5 * len(pcm) / SAMPLE_RATE
    assert max(gaps_s) < 0.5


def test_phrases_that_cannot_be_learned_are_left_out_and_without_any_the_open_model_listens(say):
    recogniser = SphinxRecogniser(["42 °C!", "stop", ""])
    assert "1 phrases" in recogniser.info.detail
    assert pushed(recogniser, say("stop")).finish().text == "stop"
    recognition = pushed(SphinxRecogniser([]), say("the children were playing"))
    assert "children" in recognition.partial()
    assert recognition.finish().text == "the children were playing"


def test_a_missing_acoustic_model_is_a_model_error(monkeypatch):
    import pocketsphinx

    def without_model(**options):
        raise RuntimeError("Failed to initialize decoder")

    monkeypatch.setattr(pocketsphinx, "Decoder", without_model)
    with pytest.raises(ModelError, match="does not load") as raised:
        SphinxRecogniser(PHRASES)
    assert "install Rubato again" in raised.value.hint


class Broken:
    def __init__(self, sphinx):
        self._sphinx = sphinx

    def reinit_feat(self):
        raise RuntimeError("Failed to end utterance")

    def __getattr__(self, name):
        return getattr(self._sphinx, name)


@pytest.mark.usefixtures("soon_long")
@pytest.mark.parametrize("times", [1, 3])  # 3: in the middle of a long utterance
def test_a_failure_is_said_and_the_next_utterance_works(recogniser, say, monkeypatch, times):
    searches = recogniser._decoder._phrase_searches
    recognition = recogniser.open()

    def decode():
        recognition.push(np.tile(say("convert ten miles to kilometers"), times))
        recognition.finish()

    with monkeypatch.context() as broken:
        broken.setattr(searches, "_sphinx", Broken(searches._sphinx))
        with pytest.raises(RecogniserError, match="could not decode"):
            decode()
    recognition.close()
    assert pushed(recogniser, say("stop")).finish().text == "stop"
