"""A text is spoken and measured on a clock that only the test moves."""

import numpy as np
import pytest

from engine.errors import InvalidInput
from engine.runtime.host.offline_synthesis import MOST_CHARACTERS, OfflineSynthesis, Script
from engine.runtime.host.rate_plan import constant, parse
from engine.runtime.host.say_command import collect
from engine.text.speakable import LEFT_OUT
from engine.tts.base import Voice
from tests.engine.runtime.by_hand import HandClock
from tests.fakes_tts import SAMPLE_RATE, FakeTts

TONE = Voice("Tone", "fake")


def synthesis(
    text: str, hand: HandClock, *, plan: str | None = None, delay_s: float = 0.0
) -> OfflineSynthesis:
    plans = constant(None) if plan is None else parse(plan)
    script = Script(text, TONE, plans, seed=1, word_delay_s=delay_s)
    return OfflineSynthesis(FakeTts(hand.speak), script, hand.clock)


def test_every_word_is_reported_where_it_is_and_how_long_it_took() -> None:
    hand = HandClock(word_cost_s=0.05)
    one = synthesis("Go on now.", hand, delay_s=1.0)
    pcm = collect(one)
    report = one.report()
    assert [word.text for word in report.words] == ["Go", "on", "now."]
    assert [word.start_s for word in report.words] == [0.0, 0.25, 0.5]
    assert [word.end_s for word in report.words] == [0.25, 0.5, 0.75]
    assert report.audio_s == len(pcm) / SAMPLE_RATE == 0.75
    assert report.first_packet_ms == pytest.approx(1050)  # the fake waits for a second word
    assert report.rtf == pytest.approx(3 * 0.05 / 0.75, abs=1e-4)  # of computing alone
    assert hand.leads
    np.testing.assert_array_equal(pcm, collect(synthesis("Go on now.", HandClock())))


def test_the_rate_plan_counts_produced_seconds() -> None:
    one = synthesis("go " * 30, HandClock(), plan="0:2,3:6")
    collect(one)
    report = one.report()
    spans = [round(word.end_s - word.start_s, 2) for word in report.words]
    assert spans[:6] == [0.5] * 6
    assert spans[-20:] == [0.17] * 20
    assert {point.target for point in report.rate if point.t <= 3} == {2.0}
    assert {point.target for point in report.rate if point.t > 3.2} == {6.0}
    assert report.rate[-1].measured == pytest.approx(6.0, abs=0.4)


@pytest.mark.parametrize(("pacing", "lowest"), [(True, 3.0), (False, 4.0)])
def test_figures_are_recited_slower_where_pacing_is_on(*, pacing: bool, lowest: float) -> None:
    script = Script("Now dial 555-1234 and go on.", TONE, constant(4.0), seed=1, pacing=pacing)
    one = OfflineSynthesis(FakeTts(), script, HandClock().clock)
    collect(one)
    report = one.report()
    spans = {word.text: word.end_s - word.start_s for word in report.words}
    assert spans["four"] == pytest.approx(1 / lowest, abs=0.01)
    assert spans["Now"] == pytest.approx(1 / 4.0)
    assert min(point.target or 0.0 for point in report.rate) == pytest.approx(lowest)


def test_a_text_or_a_part_that_no_voice_can_say_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(InvalidInput) as refused:
        synthesis("Привет, как дела?", HandClock())
    assert refused.value.hint == LEFT_OUT
    collect(synthesis("The word 你好 means hello.", HandClock()))
    assert caplog.messages == [LEFT_OUT]


def test_how_much_was_spoken_is_shown_to_the_end() -> None:
    shares: list[float] = []
    script = Script("<slow>Go on</slow> and on and on, please.", TONE)
    collect(OfflineSynthesis(FakeTts(), script, HandClock().clock, shares.append))
    assert shares == sorted(shares)
    assert shares[0] < 0.2
    assert 0.7 < shares[-1] <= 1.0


def test_a_long_text_is_begun_long_before_all_of_it_was_read_and_one_without_end_refused() -> None:
    one = synthesis("go " * 5000, HandClock())
    next(one.frames())
    assert len(one._words) < 100
    with pytest.raises(InvalidInput, match="too long"):
        synthesis("x" * (MOST_CHARACTERS + 1), HandClock())
