"""The turn rules, one sentence per rule, and a law over random histories."""

from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from engine.messages import Ending, Phase
from engine.runtime.turns import (
    CloseEars,
    DropEars,
    Effect,
    EndTurn,
    Floor,
    Input,
    OpenEars,
    Outcome,
    Recite,
    ReplyAudible,
    ReplyOver,
    ShowPhase,
    Silence,
    StopAsked,
    TalkPressed,
    TalkReleased,
    TextSent,
    Think,
    TimerRang,
    TurnBroke,
    Understood,
    VoiceBegan,
    VoiceStopped,
    advance,
)


def play(*happenings: Input, floor: Floor | None = None) -> Outcome:
    """All effects of a history, and the floor at its end."""

    def step(so_far: Outcome, happened: Input) -> Outcome:
        outcome = advance(so_far.floor, happened)
        return Outcome(outcome.floor, so_far.effects + outcome.effects)

    return reduce(step, happenings, Outcome(floor or Floor()))


def without_phases(effects: tuple[Effect, ...]) -> list[Effect]:
    return [effect for effect in effects if not isinstance(effect, ShowPhase)]


def test_a_spoken_question_is_heard_thought_about_and_answered() -> None:
    outcome = play(
        VoiceBegan(800), VoiceStopped(), Understood(1, "hello"), ReplyAudible(1), ReplyOver(1)
    )
    assert without_phases(outcome.effects) == [
        OpenEars(1, 800),
        CloseEars(1),
        Think(1, "hello"),
        EndTurn(1, Ending.COMPLETE),
    ]
    assert outcome.floor.phase is Phase.IDLE


def test_talk_key_opens_and_closes_the_utterance_and_voice_activity_does_not() -> None:
    outcome = play(
        TalkPressed(), VoiceBegan(5), VoiceStopped(), TalkReleased(), floor=Floor(hands_free=False)
    )
    assert without_phases(outcome.effects) == [OpenEars(1, None), CloseEars(1)]


def test_talk_key_during_a_reply_stops_it() -> None:
    outcome = play(TextSent("hi"), ReplyAudible(1), TalkPressed())
    assert Silence(1) in outcome.effects
    assert EndTurn(1, Ending.INTERRUPTED_BY_KEY) in outcome.effects
    assert outcome.effects[-1] == OpenEars(2, None)


def test_voice_during_a_reply_is_the_loudspeaker_unless_a_headset_is_worn() -> None:
    speaking = (TextSent("hi"), ReplyAudible(1), VoiceBegan(9))
    assert play(*speaking).floor.phase is Phase.SPEAKING
    interrupted = play(*speaking, floor=Floor(headset=True))
    assert EndTurn(1, Ending.INTERRUPTED_BY_SPEECH) in interrupted.effects
    assert interrupted.floor.phase is Phase.LISTENING


def test_stop_ends_the_reply_and_nobody_has_the_floor() -> None:
    outcome = play(TextSent("hi"), ReplyAudible(1), StopAsked())
    assert without_phases(outcome.effects)[1:] == [
        Silence(1),
        EndTurn(1, Ending.INTERRUPTED_BY_KEY),
    ]
    assert outcome.floor.phase is Phase.IDLE


def test_an_utterance_without_words_ends_its_turn() -> None:
    outcome = play(VoiceBegan(0), VoiceStopped(), Understood(1, ""))
    assert outcome.effects[-2:] == (EndTurn(1, Ending.NOTHING_HEARD), ShowPhase(1, Phase.IDLE))


def test_a_new_text_takes_the_floor_from_a_reply() -> None:
    outcome = play(TextSent("one"), ReplyAudible(1), TextSent("two"))
    assert without_phases(outcome.effects)[1:] == [
        Silence(1),
        EndTurn(1, Ending.INTERRUPTED_BY_KEY),
        Think(2, "two"),
    ]


def test_stop_while_listening_drops_the_utterance() -> None:
    outcome = play(VoiceBegan(0), StopAsked())
    assert DropEars(1) in outcome.effects
    assert EndTurn(1, Ending.NOTHING_HEARD) in outcome.effects


def test_a_broken_language_model_lets_what_was_written_be_spoken() -> None:
    speaking = play(TextSent("hi"), ReplyAudible(1), TurnBroke(1, speech_goes_on=True))
    assert speaking.floor.phase is Phase.SPEAKING
    assert EndTurn(1, Ending.FAILED) in advance(speaking.floor, ReplyOver(1)).effects


def test_a_broken_synthesiser_ends_the_turn_at_once() -> None:
    outcome = play(TextSent("hi"), TurnBroke(1, speech_goes_on=False))
    assert EndTurn(1, Ending.FAILED) in outcome.effects
    assert outcome.floor.phase is Phase.IDLE


def test_a_timer_waits_until_nobody_has_the_floor() -> None:
    outcome = play(TextSent("hi"), ReplyAudible(1), TimerRang("tea"), ReplyOver(1))
    assert without_phases(outcome.effects)[1:] == [EndTurn(1, Ending.COMPLETE), Recite(2, "tea")]


def test_happenings_of_an_older_turn_change_nothing() -> None:
    floor = play(TextSent("one"), TextSent("two")).floor
    for stale in (Understood(1, "x"), ReplyAudible(1), ReplyOver(1), TurnBroke(1, False)):
        assert advance(floor, stale) == Outcome(floor)


turns = st.integers(min_value=0, max_value=6)
happenings = st.lists(
    st.one_of(
        st.just(TalkPressed()),
        st.just(TalkReleased()),
        st.builds(VoiceBegan, st.integers(0, 10**6)),
        st.just(VoiceStopped()),
        st.builds(TextSent, st.just("text")),
        st.builds(Understood, turns, st.sampled_from(["", "words"])),
        st.builds(ReplyAudible, turns),
        st.builds(ReplyOver, turns),
        st.just(StopAsked()),
        st.builds(TurnBroke, turns, st.booleans()),
        st.builds(TimerRang, st.just("ring")),
    ),
    max_size=60,
)


@given(happenings, st.booleans(), st.booleans())
def test_every_turn_that_begins_ends_exactly_once(
    history: list[Input], hands_free: bool, headset: bool
) -> None:
    # Timers that wait speak one after the other, so every one needs a stop of its own.
    stops = [StopAsked()] * (len(history) + 1)
    outcome = play(*history, *stops, floor=Floor(hands_free=hands_free, headset=headset))
    ended = [effect.turn for effect in outcome.effects if isinstance(effect, EndTurn)]
    assert ended == list(range(1, outcome.floor.turn + 1))
    assert outcome.floor.phase is Phase.IDLE
