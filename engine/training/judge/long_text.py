"""Minutes of continuous text in one utterance: does the voice stay intelligible?

Invariant: every minute is judged by the words that, according to the talker, began in it.
"""

from typing import Any, Final

import numpy as np

from engine.training.judge.judging import Recogniser, word_error_rate
from engine.training.judge.performance import Spoken
from engine.training.judge.talkers import Talker

MINUTE: Final = 60.0  # seconds


def judge_long(talker: Talker, text: str, rate: float, minute: float = MINUTE) -> dict[str, Any]:
    """A part: the word error rate of each whole `minute` [s] (of the whole text if it is shorter),
    the seconds spoken, and whether the utterance ended by itself.
    """
    (sentence,) = talker.speak([text], (rate,))
    judge = Recogniser((text,))
    length = len(sentence.pcm) / sentence.sample_rate
    edges = np.arange(0.0, length, minute).tolist()
    if len(edges) > 1 and length - edges[-1] < minute:
        edges.pop()  # the last minute includes the remainder
    minutes = [
        _errors(sentence, judge, begin, end)
        for begin, end in zip(edges, [*edges[1:], length], strict=True)
    ]
    return {"minutes": minutes, "seconds": length, "ended": sentence.ended}


def _errors(sentence: Spoken, judge: Recogniser, begin: float, end: float) -> float:
    """Word error rate of a stretch, cut at the onsets of words. 1 where no word began."""
    words = sentence.text.split()
    within = [n for n, onset in enumerate(sentence.onsets) if begin <= onset < end]
    if not within:
        return 1.0
    first, last = within[0], within[-1]
    following = sentence.onsets[last + 1] if last + 1 < len(sentence.onsets) else end
    start, stop = (int(at * sentence.sample_rate) for at in (sentence.onsets[first], following))
    transcript = judge.hear(sentence.pcm[start:stop], sentence.sample_rate)
    return word_error_rate([" ".join(words[first : last + 1])], [transcript])
