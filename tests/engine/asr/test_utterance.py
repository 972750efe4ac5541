"""The audio of one utterance."""

import numpy as np
import pytest

from engine.asr.base import SAMPLE_RATE
from engine.asr.utterance import UtteranceAudio
from engine.audio.vad import WINDOW


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


def test_a_pause_is_told_while_it_lasts(vad, say):
    kept = kept_of(vad, say("what time is it"))
    assert kept.pausing
    kept.push(say("what time is it")[: SAMPLE_RATE * 3 // 4])
    assert not kept.pausing
