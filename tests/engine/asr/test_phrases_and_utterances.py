"""The language model of the skills' sentences, and the audio of one utterance."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.asr.base import SAMPLE_RATE
from engine.asr.phrase_model import END, START, PhraseModel
from engine.asr.utterance import UtteranceAudio
from engine.audio.vad import WINDOW

PHRASES = ["what time is it", "what day is it", "stop", "set a timer for ten minutes"]
SENTENCES = st.lists(
    st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=6).map(" ".join),
    min_size=1,
    max_size=12,
)


@settings(max_examples=40)
@given(SENTENCES, st.lists(st.sampled_from(["a", "b", "zebra", START]), max_size=2))
def test_what_may_follow_a_history_has_probability_one(phrases, history):
    model = PhraseModel(phrases)
    total = sum(10 ** model.log10(word, tuple(history)) for word in (*model.words, END))
    assert total == pytest.approx(1.0)


@pytest.mark.parametrize(
    "odd",
    ["", "Stop", "what  time", "ten °C", "stop\n", "\\data\\", "<s> stop", "a" * 3 + " b" * 40],
)
def test_phrases_that_are_not_plain_words_are_left_out(odd):
    model = PhraseModel([odd, "stop"])
    assert (model.size, model.words) == (1, ("stop",))


def test_pocketsphinx_reads_the_probabilities_we_meant(tmp_path):
    from pocketsphinx import LogMath, NGramModel

    model, file = PhraseModel(PHRASES), tmp_path / "phrases.lm"
    model.write(file)
    log = LogMath()
    read = NGramModel(None, log, str(file))
    for words in (["time", "what", START], ["minutes", "what", START], ["stop"]):
        history = tuple(reversed(words[1:]))
        meant = model.log10(words[0], history) * math.log(10)
        assert log.log_to_ln(read.prob(words)) == pytest.approx(meant, abs=0.01)


def kept_of(vad, pcm: np.ndarray, block: int = 1600) -> UtteranceAudio:
    kept = UtteranceAudio(vad, limit_s=4, cut_s=2)
    for first in range(0, len(pcm), block):
        kept.push(pcm[first : first + block])
    return kept


def test_the_clip_does_not_depend_on_the_blocks(vad, say):
    sentence = say("what time is it")
    whole = kept_of(vad, sentence, len(sentence)).clip()
    for block in (333, 1600, 5000):
        cut = kept_of(vad, sentence, block).clip()
        assert np.array_equal(whole.pcm, cut.pcm)
        assert cut.probabilities == pytest.approx(whole.probabilities, abs=1e-5)


def test_a_full_utterance_is_cut_in_its_quietest_moment_and_nothing_is_lost(vad, say):
    first, second = say("set a timer for ten minutes"), say("convert ten miles to kilometers")
    pcm = np.concatenate([first, second, second])[: 5 * SAMPLE_RATE]
    kept = kept_of(vad, pcm)
    assert kept.full
    head = kept.take_head()
    cut = len(head.pcm)
    assert np.max(np.abs(pcm[cut - WINDOW : cut])) < 0.01
    rest = kept.clip()
    assert np.array_equal(np.concatenate([head.pcm, rest.pcm]), pcm)
    assert len(head.probabilities) * WINDOW == len(head.pcm)
    assert len(rest.probabilities) == len(rest.pcm) // WINDOW


class Scripted:
    """A voice detector that hears what it is told."""

    def __init__(self, probabilities: list[float]) -> None:
        self._probabilities = probabilities

    def reset(self) -> None: ...

    def push(self, _pcm: np.ndarray) -> list[float]:
        return self._probabilities


@pytest.mark.parametrize(("silent", "in_speech"), [(1, True), (12, True), (13, False)])
def test_a_cut_knows_whether_a_sentence_may_have_ended_there(silent, in_speech):
    windows = 4 * SAMPLE_RATE // WINDOW
    probabilities = [0.9] * windows
    probabilities[80 : 80 + silent] = [0.1] * silent
    kept = UtteranceAudio(Scripted(probabilities), limit_s=4, cut_s=2)
    kept.push(np.zeros(windows * WINDOW, np.float32))
    assert kept.take_head().in_speech is in_speech


def test_a_pause_is_told_while_it_lasts(vad, say):
    kept = kept_of(vad, say("what time is it"))
    assert kept.pausing
    kept.push(say("what time is it")[: SAMPLE_RATE * 3 // 4])
    assert not kept.pausing
