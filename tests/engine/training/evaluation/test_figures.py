"""The table: medians and worst of every voice, what was missed, and what nobody measured."""

import pytest

from engine.training.evaluation.cloning import likened, likeness
from engine.training.evaluation.figures import UNMEASURED, UP, Goal, Results, details, goals, table
from engine.training.evaluation.judging import Naturalness
from tests.engine.training.verdict import verdict

NOTHING = Results()


def goal(name: str, sources: Results = NOTHING) -> Goal:
    return next(goal for goal in goals(sources) if goal.name == name)


def test_errors_are_counted_for_each_voice_and_the_worst_one_decides() -> None:
    wrong = verdict(talker="Bruno", heard="good evening")
    heard = Results(sentences=(verdict(), verdict(talker="Clara"), wrong))
    words = goal("words wrong, bigram")
    assert words.cell(heard) == "0.0% / 50.0%"
    assert words.verdict(heard) == "miss"
    assert words.verdict(Results(sentences=(verdict(),))) == "pass"


def test_what_nobody_measured_is_neither_passed_nor_missed() -> None:
    words = goal("words wrong, open")
    silent = Results(sentences=(verdict(heard_open=None),))
    assert words.cell(silent) == UNMEASURED
    assert words.verdict(silent) == ""
    printed = table(NOTHING, {"its sources": NOTHING, "espeak": NOTHING, "flite": NOTHING})
    assert printed.count(UNMEASURED) == 4 * len(goals(NOTHING))


def test_the_rate_is_judged_by_its_mean_error() -> None:
    heard = Results(rates={2.0: (verdict(rate=2.2),), 5.0: (verdict(rate=4.5),)})
    rate = goal("speaking rate, error")
    assert rate.cell(heard) == "10.0% / 10.0%"
    assert goal("a higher rate is always faster").verdict(heard) == "pass"
    assert "2 -> 2.20, 5 -> 4.50" in details(heard)
    assert "asked" not in details(Results(rates={4.0: ()}))


def test_a_rate_that_turns_back_is_a_miss() -> None:
    heard = Results(rates={2.0: (verdict(rate=4.0),), 5.0: (verdict(rate=3.0),)})
    assert goal("a higher rate is always faster").verdict(heard) == "miss"


def test_errors_at_the_ends_of_the_slider_come_from_its_rates() -> None:
    heard = Results(rates={UP[0]: (verdict(heard="good"),), 4.0: (verdict(heard=""),)})
    assert goal("words wrong at 2 SPS, bigram").cell(heard) == "50.0% / 50.0%"
    assert goal("words wrong at 6 SPS, bigram").cell(heard) == UNMEASURED


def test_naturalness_is_asked_for_as_far_as_the_sources_have_it() -> None:
    sources = Results(sentences=(verdict(naturalness=Naturalness(3.5, 3.0)),))
    ours = Results(sentences=(verdict(naturalness=Naturalness(3.35, 2.5)),))
    assert goal("DNSMOS P.808", sources).verdict(ours) == "pass"
    assert goal("DNSMOS overall", sources).verdict(ours) == "miss"


def test_onsets_are_compared_where_both_sides_have_every_word() -> None:
    heard = Results(sentences=(verdict(), verdict(starts=()), verdict(onsets=(0.9,))))
    assert goal("word onsets, distance from an aligner's").cell(heard) == "25 ms / 25 ms"


def test_a_long_text_is_judged_by_what_its_last_minute_loses() -> None:
    heard = Results(minutes=(0.02, 0.5, 0.03))
    drift = goal("words wrong, last minute of a long text minus its first")
    assert drift.verdict(heard) == "pass"
    assert "2.0% 50.0% 3.0%" in details(heard)


def test_clones_like_their_own_speakers_are_told_from_those_like_a_named_voice() -> None:
    own = {"clone": [1.0, 0.1], "prompt": [1.0, 0.0], "other": [1.0, 0.0]}
    lost = {"clone": [0.6, 0.8], "prompt": [0.0, 1.0], "other": [0.0, 1.0]}
    named = [{"vector": [0.6, 0.8]}]
    found = likeness([own, {}, lost], named)
    assert found is not None
    assert found.best == 0.5
    assert found.of_starter == pytest.approx((0.6, 0.8))
    assert found.nearer == 0.5
    assert found.to_starter[1] == pytest.approx(1.0)
    assert found.equal_error == 0.0
    assert likeness([own], named) is None


def test_a_clone_may_be_the_best_of_its_speaker_and_yet_more_like_a_named_voice() -> None:
    own = {"clone": [0.8, 0.6], "prompt": [1.0, 0.0], "other": [1.0, 0.0]}
    other = {"clone": [0.0, 1.0], "prompt": [0.0, 1.0], "other": [0.0, 1.0]}
    found = likeness([own, other], [{"vector": [0.7, 0.714]}])
    assert found is not None
    assert (found.best, found.nearer) == (1.0, 0.5)


def test_a_real_voice_is_set_beside_its_own_prompt_and_the_nearest_named_voice() -> None:
    found = {"clone": [0.6, 0.8], "prompt": [2.0, 0.0], "other": [1.0, 0.0]}
    person = likened("person 1", found, [{"vector": [0.0, 1.0]}, {"vector": [0.8, 0.6]}])
    assert person is not None
    line = details(Results(people=(person,)))
    assert "person 1, likeness to other speech of that person: the clone 0.60" in line
    assert "the recording it was made from 1.00, the nearest named voice 0.80" in line
    assert likened("person 1", {}, [{"vector": [0.0, 1.0]}]) is None


def test_all_voices_together_are_judged_by_whisper_with_an_interval() -> None:
    heard = Results(sentences=(verdict(), verdict(talker="Bruno", wrong=1)), replies=(verdict(),))
    assert goal("words wrong, Whisper, all").cell(heard) == "25.0% / 25.0%"
    assert goal("words wrong, Whisper, every voice").verdict(heard) == "miss"
    assert "Bruno: words wrong by Whisper 50.0% \u00b1 0.0, bigram 0.0%" in details(heard)
    assert "all voices: words wrong by Whisper" in details(heard)
    assert "replies: words wrong by Whisper 0.0%" in details(heard)
