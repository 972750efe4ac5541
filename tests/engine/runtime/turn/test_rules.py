"""The turn rules, one sentence per rule, and a law over random histories."""

from dataclasses import replace
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.messages import Ending, Phase
from engine.runtime.turn.orders import CloseUtterance, DropUtterance, JoinUtterance, OpenUtterance
from engine.runtime.turn.rules import (
    Doubt,
    DropDoubt,
    Effect,
    EndTurn,
    Floor,
    Input,
    Outcome,
    Pause,
    Recite,
    ReplyAudible,
    ReplyOver,
    Resume,
    ShowPhase,
    StopAsked,
    TalkPressed,
    TalkReleased,
    TextSent,
    Think,
    TimerRang,
    TurnBroke,
    Understood,
    VoiceBegan,
    VoiceConfirmed,
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
        VoiceBegan(800),
        VoiceStopped(),
        Understood(1, "hello"),
        ReplyAudible(1),
        ReplyOver(1, Ending.COMPLETE),
    )
    assert without_phases(outcome.effects) == [
        OpenUtterance(1, 800),
        CloseUtterance(1),
        Think(1, "hello"),
        EndTurn(1, Ending.COMPLETE),
    ]
    assert outcome.floor.phase is Phase.IDLE


def test_talk_key_opens_and_closes_the_utterance_and_voice_activity_does_not() -> None:
    outcome = play(
        TalkPressed(), VoiceBegan(5), VoiceStopped(), TalkReleased(), floor=Floor(hands_free=False)
    )
    assert without_phases(outcome.effects) == [OpenUtterance(1, None), CloseUtterance(1)]


def test_talk_key_during_a_reply_stops_it() -> None:
    outcome = play(TextSent("hi"), ReplyAudible(1), TalkPressed())
    assert EndTurn(1, Ending.INTERRUPTED_BY_TALK_KEY) in outcome.effects
    assert outcome.effects[-1] == OpenUtterance(2, None)


def test_voice_during_a_reply_is_the_loudspeaker_unless_a_headset_is_worn() -> None:
    speaking = (TextSent("hi"), ReplyAudible(1), VoiceBegan(9))
    assert play(*speaking).floor.phase is Phase.SPEAKING
    interrupted = play(*speaking, floor=Floor(headset=True))
    assert EndTurn(1, Ending.INTERRUPTED_BY_SPEECH) in interrupted.effects
    assert interrupted.floor.phase is Phase.LISTENING


def test_stop_ends_the_reply_and_nobody_has_the_floor() -> None:
    outcome = play(TextSent("hi"), ReplyAudible(1), StopAsked())
    assert without_phases(outcome.effects)[1:] == [
        EndTurn(1, Ending.INTERRUPTED_BY_STOP),
    ]
    assert outcome.floor.phase is Phase.IDLE


def test_who_speaks_on_before_the_reply_is_heard_supersedes_it() -> None:
    outcome = play(VoiceBegan(0), VoiceStopped(), Understood(1, "and"), VoiceBegan(9))
    assert EndTurn(1, Ending.SUPERSEDED) in outcome.effects


def test_a_stop_says_what_it_was_asked_with() -> None:
    outcome = play(TextSent("hi"), StopAsked(Ending.INTERRUPTED_BY_ESCAPE))
    assert EndTurn(1, Ending.INTERRUPTED_BY_ESCAPE) in outcome.effects


@pytest.mark.parametrize("spoken", [(TalkPressed(),), (TalkPressed(), TalkReleased())])
def test_a_lost_device_ends_the_turn_and_is_named(spoken: tuple[Input, ...]) -> None:
    outcome = play(*spoken, TurnBroke(1, Ending.DEVICE_LOST))
    assert EndTurn(1, Ending.DEVICE_LOST) in outcome.effects


def test_an_utterance_without_words_ends_its_turn() -> None:
    outcome = play(VoiceBegan(0), VoiceStopped(), Understood(1, ""))
    assert outcome.effects[-2:] == (EndTurn(1, Ending.NOTHING_HEARD), ShowPhase(1, Phase.IDLE))


def test_a_new_text_takes_the_floor_from_a_reply() -> None:
    outcome = play(TextSent("one"), ReplyAudible(1), TextSent("two"))
    assert without_phases(outcome.effects)[1:] == [
        EndTurn(1, Ending.INTERRUPTED_BY_TEXT),
        Think(2, "two"),
    ]


def test_stop_while_listening_drops_the_utterance() -> None:
    outcome = play(VoiceBegan(0), StopAsked())
    assert DropUtterance(1) in outcome.effects
    assert EndTurn(1, Ending.NOTHING_HEARD) in outcome.effects


def test_a_reply_that_failed_ends_its_turn_as_failed() -> None:
    speaking = play(TextSent("hi"), ReplyAudible(1))
    failed = advance(speaking.floor, ReplyOver(1, Ending.FAILED))
    assert EndTurn(1, Ending.FAILED) in failed.effects


def test_a_turn_of_which_nothing_more_comes_ends_at_once() -> None:
    outcome = play(TextSent("hi"), TurnBroke(1))
    assert EndTurn(1, Ending.FAILED) in outcome.effects
    assert outcome.floor.phase is Phase.IDLE


def test_a_timer_waits_until_nobody_has_the_floor() -> None:
    outcome = play(TextSent("hi"), ReplyAudible(1), TimerRang("tea"), ReplyOver(1, Ending.COMPLETE))
    assert without_phases(outcome.effects)[1:] == [EndTurn(1, Ending.COMPLETE), Recite(2, "tea")]


def test_happenings_of_an_older_turn_change_nothing() -> None:
    floor = play(TextSent("one"), TextSent("two")).floor
    for stale in (Understood(1, "x"), ReplyAudible(1), ReplyOver(1, Ending.COMPLETE), TurnBroke(1)):
        assert advance(floor, stale) == Outcome(floor)


turns = st.integers(min_value=0, max_value=6)
happenings = st.lists(
    st.one_of(
        st.just(TalkPressed()),
        st.just(TalkReleased()),
        st.builds(VoiceBegan, st.integers(0, 10**6), st.booleans()),
        st.just(VoiceStopped()),
        st.builds(VoiceConfirmed, turns),
        st.builds(TextSent, st.just("text")),
        st.builds(Understood, turns, st.sampled_from(["", "words"])),
        st.builds(ReplyAudible, turns),
        st.builds(ReplyOver, turns, st.sampled_from([Ending.COMPLETE, Ending.FAILED])),
        st.just(StopAsked()),
        st.builds(TurnBroke, turns),
        st.builds(TimerRang, st.just("ring")),
    ),
    max_size=60,
)


floors = st.builds(Floor, hands_free=st.booleans(), headset=st.booleans(), cancelling=st.booleans())


@given(happenings, floors)
def test_every_turn_that_begins_ends_exactly_once(history: list[Input], floor: Floor) -> None:
    # Timers that wait speak one after the other, so every one needs a stop of its own.
    stops = [StopAsked()] * (len(history) + 1)
    outcome = play(*history, *stops, floor=floor)
    ended = [effect.turn for effect in outcome.effects if isinstance(effect, EndTurn)]
    shown = [effect for effect in outcome.effects if isinstance(effect, ShowPhase)]
    begun = dict.fromkeys(effect.turn for effect in shown if effect.phase is not Phase.IDLE)
    assert ended == list(begun)
    assert ended == sorted(ended)
    assert outcome.floor.phase is Phase.IDLE


@given(happenings, floors)
def test_a_reply_that_is_paused_goes_on_or_ends(history: list[Input], floor: Floor) -> None:
    outcome = play(*history, *[StopAsked()] * (len(history) + 1), floor=floor)
    paused = set()
    for effect in outcome.effects:
        if isinstance(effect, Pause):
            paused.add(effect.turn)
        if isinstance(effect, Resume | EndTurn):
            paused.discard(effect.turn)
    assert not paused


@given(happenings, floors)
def test_whoever_is_doubted_gets_the_floor_or_is_forgotten(
    history: list[Input], floor: Floor
) -> None:
    outcome = play(*history, *[StopAsked()] * (len(history) + 1), floor=floor)
    opening = OpenUtterance | JoinUtterance
    ears = [effect for effect in outcome.effects if isinstance(effect, opening)]
    opened = {effect.turn for effect in ears}
    dropped = {effect.turn for effect in outcome.effects if isinstance(effect, DropDoubt)}
    ended = {effect.turn for effect in outcome.effects if isinstance(effect, EndTurn)}
    assert opened <= dropped | ended
    assert not dropped & ended


def test_who_goes_on_before_the_reply_is_heard_goes_on_with_the_same_utterance() -> None:
    closed = play(VoiceBegan(800), VoiceStopped(), Understood(1, "what time is it"))
    outcome = advance(closed.floor, VoiceBegan(9_000))
    assert outcome.effects == (
        JoinUtterance(1, 2),
        EndTurn(1, Ending.SUPERSEDED),
        ShowPhase(2, Phase.LISTENING),
    )
    rest = play(VoiceStopped(), Understood(2, "what time is it in Tokyo"), floor=outcome.floor)
    assert without_phases(rest.effects) == [CloseUtterance(2), Think(2, "what time is it in Tokyo")]


def test_who_goes_on_twice_is_joined_twice() -> None:
    outcome = play(*[VoiceBegan(0), VoiceStopped()] * 3)
    joined = [effect for effect in outcome.effects if isinstance(effect, JoinUtterance)]
    assert joined == [JoinUtterance(1, 2), JoinUtterance(2, 3)]


@pytest.mark.parametrize("first", [TextSent("hi"), TimerRang("tea")])
def test_what_was_not_ended_by_a_silence_is_not_joined(first: Input) -> None:
    outcome = play(VoiceBegan(0), VoiceStopped(), StopAsked(), first, VoiceBegan(9_000))
    assert OpenUtterance(3, 9_000) in outcome.effects


def test_what_is_said_once_the_reply_is_heard_is_a_turn_of_its_own() -> None:
    spoken = play(VoiceBegan(0), VoiceStopped(), Understood(1, "hi"), ReplyAudible(1))
    outcome = advance(replace(spoken.floor, headset=True), VoiceBegan(9_000))
    assert OpenUtterance(2, 9_000) in outcome.effects


def test_who_goes_on_too_soon_to_have_heard_the_reply_loses_nothing_of_what_was_said() -> None:
    spoken = play(VoiceBegan(0), VoiceStopped(), Understood(1, "hi"), ReplyAudible(1))
    outcome = advance(replace(spoken.floor, headset=True), VoiceBegan(9_000, unmoved=True))
    assert without_phases(outcome.effects) == [
        JoinUtterance(1, 2),
        EndTurn(1, Ending.SUPERSEDED),
    ]


def test_a_voice_is_not_joined_to_what_was_typed() -> None:
    typed = play(TextSent("hi"), ReplyAudible(1), floor=Floor(headset=True))
    outcome = advance(typed.floor, VoiceBegan(9_000, unmoved=True))
    assert OpenUtterance(2, 9_000) in outcome.effects


OVER_LOUDSPEAKER = (TextSent("hi"), ReplyAudible(1), VoiceBegan(800))
CANCELLING = Floor(cancelling=True)


def test_voice_during_a_cancelled_reply_makes_it_quiet_and_is_listened_to() -> None:
    outcome = play(*OVER_LOUDSPEAKER, floor=CANCELLING)
    assert outcome.effects[-2:] == (Pause(1), OpenUtterance(2, 800))
    assert outcome.floor.phase is Phase.SPEAKING
    assert outcome.floor.doubt == Doubt(2)


def test_a_confirmed_voice_ends_the_reply_and_is_the_next_turn() -> None:
    outcome = play(*OVER_LOUDSPEAKER, VoiceConfirmed(2), floor=CANCELLING)
    assert outcome.effects[-2:] == (
        EndTurn(1, Ending.INTERRUPTED_BY_SPEECH),
        ShowPhase(2, Phase.LISTENING),
    )
    rest = play(VoiceStopped(), Understood(2, "stop"), floor=outcome.floor)
    assert without_phases(rest.effects) == [CloseUtterance(2), Think(2, "stop")]


def test_a_voice_that_said_nothing_gives_the_reply_its_volume_back() -> None:
    outcome = play(*OVER_LOUDSPEAKER, VoiceStopped(), Understood(2, ""), floor=CANCELLING)
    assert outcome.effects[-3:] == (CloseUtterance(2, aside=True), DropDoubt(2), Resume(1))
    assert outcome.floor.phase is Phase.SPEAKING
    assert advance(outcome.floor, VoiceConfirmed(2)) == Outcome(outcome.floor)


def test_a_short_word_that_asks_for_the_floor_gets_an_answer() -> None:
    outcome = play(*OVER_LOUDSPEAKER, VoiceStopped(), Understood(2, "stop"), floor=CANCELLING)
    assert without_phases(outcome.effects)[-2:] == [
        EndTurn(1, Ending.INTERRUPTED_BY_SPEECH),
        Think(2, "stop"),
    ]


def test_a_reply_that_ends_in_doubt_leaves_the_floor_to_the_voice() -> None:
    outcome = play(*OVER_LOUDSPEAKER, ReplyOver(1, Ending.COMPLETE), floor=CANCELLING)
    assert outcome.effects[-2:] == (EndTurn(1, Ending.COMPLETE), ShowPhase(2, Phase.LISTENING))


def test_a_key_during_doubt_forgets_the_voice() -> None:
    outcome = play(*OVER_LOUDSPEAKER, TextSent("else"), floor=CANCELLING)
    assert without_phases(outcome.effects)[-3:] == [
        DropDoubt(2),
        EndTurn(1, Ending.INTERRUPTED_BY_TEXT),
        Think(3, "else"),
    ]
