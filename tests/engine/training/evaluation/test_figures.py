"""The table: medians and worst of every voice, what was missed, and what nobody measured."""

import numpy as np
import pytest

from engine.training.evaluation.cloning import likeness
from engine.training.evaluation.figures import (
    FIGURES,
    LOST_SOUNDS,
    UNMEASURED,
    UP,
    Figure,
    Results,
    details,
    table,
)
from engine.training.evaluation.recognisers import Naturalness
from tests.engine.training.judged import judged


def figure(name: str) -> Figure:
    return next(each for each in FIGURES if each.name == name)


def test_errors_are_counted_for_each_voice_and_the_worst_one_decides() -> None:
    wrong = judged(voice="Bruno", heard="good evening")
    heard = Results(sentences=(judged(), judged(voice="Clara"), wrong))
    words = figure("words wrong, bigram")
    assert words.cell(heard) == "0.0% / 50.0%"
    assert words.outcome(heard) == "miss"
    assert words.outcome(Results(sentences=(judged(),))) == "pass"


def test_what_nobody_measured_is_neither_passed_nor_missed() -> None:
    words = figure("words wrong, Whisper, all")
    silent = Results(sentences=(judged(wrong=None),))
    assert words.cell(silent) == UNMEASURED
    assert words.outcome(silent) == ""
    assert table(Results()).count(UNMEASURED) == len(FIGURES)


def test_the_rate_is_judged_by_its_mean_error() -> None:
    heard = Results(rates={2.0: (judged(rate=2.2),), 5.0: (judged(rate=4.5),)})
    assert figure("speaking rate, error").cell(heard) == "10.0% / 10.0%"
    assert figure("a higher rate is always faster").outcome(heard) == "pass"
    assert "2 -> 2.20, 5 -> 4.50" in details(heard)
    assert "asked" not in details(Results(rates={4.0: ()}))


def test_a_rate_that_turns_back_is_a_miss() -> None:
    heard = Results(rates={2.0: (judged(rate=4.0),), 5.0: (judged(rate=3.0),)})
    assert figure("a higher rate is always faster").outcome(heard) == "miss"


def test_errors_at_the_ends_of_the_slider_come_from_its_rates() -> None:
    heard = Results(rates={UP[0]: (judged(heard="good"),), 4.0: (judged(heard=""),)})
    assert figure("words wrong at 2 SPS, bigram").cell(heard) == "50.0% / 50.0%"
    assert figure("words wrong at 6 SPS, bigram").cell(heard) == UNMEASURED


def test_a_voice_that_skips_or_repeats_a_word_now_and_then_is_a_miss() -> None:
    heard = Results(sentences=(judged(), judged(gap=LOST_SOUNDS), judged(voice="Bo", gap=None)))
    whole = figure("nothing skipped or repeated")
    assert whole.cell(heard) == "50.0% / 50.0%"
    assert whole.outcome(heard) == "miss"
    assert whole.outcome(Results(sentences=(judged(gap=LOST_SOUNDS - 1),))) == "pass"


def test_onsets_are_compared_where_both_sides_have_every_word() -> None:
    both = judged(onsets=(0.1, 0.5), starts=(0.12, 0.53))
    heard = Results(sentences=(both, judged(onsets=(0.1, 0.9)), judged(starts=(0.9,))))
    assert figure("word onsets, distance from an aligner's").cell(heard) == "25 ms / 25 ms"


def test_a_change_of_the_slider_is_timed_and_one_that_is_not_heard_never_ends() -> None:
    def turning(after: float) -> Results:
        starts = (*np.arange(0, 10, 0.5), *np.arange(10, 20, 1 / after))
        text = " ".join("word" for _ in starts)
        return Results(steps={UP: (judged(text=text, switched=10.0, starts=starts),)})

    time = figure("slider 2 -> 6, time to 90 % of the change")
    assert time.outcome(turning(6.0)) == "pass"
    assert "measured SPS, slider 2 -> 6: 2.0 -> 6.0" in details(turning(6.0))
    assert time.cell(turning(2.0)) == "never / never"
    assert time.outcome(turning(2.0)) == "miss"
    assert figure("slider 6 -> 2, time to 90 % of the change").cell(turning(6.0)) == UNMEASURED


def test_naturalness_is_asked_for_at_least() -> None:
    ours = Results(sentences=(judged(naturalness=Naturalness(3.45, 2.5)),))
    assert figure("DNSMOS P.808").outcome(ours) == "pass"
    assert figure("DNSMOS overall").outcome(ours) == "miss"


def test_a_long_text_is_judged_by_what_its_last_minute_loses() -> None:
    heard = Results(minutes=(0.02, 0.5, 0.03))
    drift = figure("words wrong, last minute of a long text minus its first")
    assert drift.outcome(heard) == "pass"
    assert "2.0% 50.0% 3.0%" in details(heard)


def test_clones_like_their_own_speakers_are_told_from_those_like_a_named_voice() -> None:
    own = {"clone": [1.0, 0.1], "other": [1.0, 0.0]}
    lost = {"clone": [0.6, 0.8], "other": [0.0, 1.0]}
    named = {"vector": [0.6, 0.8]}
    found = likeness([own, {}, lost, named])
    assert found is not None
    assert found.best == 0.5
    assert found.of_named == pytest.approx((0.6, 0.8))
    assert found.equal_error == 0.0
    assert figure("likeness of a clone to its speaker").cell(Results(likeness=found)) != UNMEASURED
    assert likeness([own, named]) is None


def test_all_voices_together_are_judged_by_whisper_with_an_interval() -> None:
    heard = Results(sentences=(judged(), judged(voice="Bruno", wrong=1)), replies=(judged(),))
    assert figure("words wrong, Whisper, all").cell(heard) == "25.0% / 25.0%"
    assert figure("words wrong, Whisper, every voice").outcome(heard) == "miss"
    assert "Bruno: words wrong by Whisper 50.0% \u00b1 0.0, bigram 0.0%" in details(heard)
    assert "all voices: words wrong by Whisper" in details(heard)
    assert "replies: words wrong by Whisper 0.0%" in details(heard)
