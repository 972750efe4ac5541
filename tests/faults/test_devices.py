"""Devices missing, pulled out, frozen or crashed in a turn, on a real sound server."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from engine import api
from engine.audio.devices import portaudio
from engine.runtime.factories import standard_factories
from engine.settings import AudioSettings, SpeechSettings
from engine.tts.registry import BUILT_IN
from tests.end_to_end.ear import recording
from tests.faults.whole import Whole, whole
from tests.help.fakes.parts import FakeRecogniser
from tests.help.machine.virtual_audio import HEADSET, MICROPHONE, SPEAKER

pytestmark = [pytest.mark.device, pytest.mark.slow, pytest.mark.own_process]

LONG = "seven quiet rivers run along the old stone road to the harbour in the morning"


@contextmanager
def on_card(**audio: str | bool) -> Iterator[Whole]:
    """An engine with the card's devices; what it hears is scripted, its voice is quick."""
    settings = api.Settings(
        audio=replace(AudioSettings(hands_free=False), **audio),
        speech=SpeechSettings(engine=BUILT_IN),
    )
    factories = replace(standard_factories(), recogniser=lambda settings, phrases: FakeRecogniser())
    with whole(settings, factories=factories) as engine:
        yield engine


def has(engine: Whole, part: api.Part) -> bool:
    return any(event.part is part for event in engine.of(api.Ready))


def begin_reply(engine: Whole) -> None:
    """A reply of which some words were heard and most were not."""
    engine.post(api.SendText(f"repeat after me {LONG}"))
    engine.wait(lambda: len(engine.of(api.WordHeard)) >= 3)


def lost(engine: Whole) -> None:
    """The reply that was begun ends where it was heard, and says why."""
    ended = engine.ended(1)
    assert ended.ending is api.Ending.DEVICE_LOST
    assert ended.reply == LONG
    assert LONG.startswith(ended.heard)
    assert 0 < len(ended.heard) < len(LONG)
    assert any(failed.turn == 1 for failed in engine.failed(api.Part.LOUDSPEAKER))


def complete(engine: Whole) -> None:
    """The reply that was begun is spoken to its end, every word once."""
    ended = engine.ended(1)
    assert ended.ending is api.Ending.COMPLETE
    assert ended.heard == LONG
    spans = [(event.start, event.end) for event in engine.of(api.WordHeard) if event.turn == 1]
    assert [LONG[start:end] for start, end in spans] == LONG.split()


def talk(engine: Whole, turn: int) -> None:
    """One turn with the talk key, with a microphone that works."""
    levels = len(engine.of(api.Levels))
    engine.post(api.PressTalk())
    engine.wait(lambda: len(engine.of(api.Levels)) > levels + 5)
    engine.post(api.ReleaseTalk())
    assert engine.ended(turn).said == "hello there"
    assert engine.of(api.Heard)[-1].turn == turn


def test_a_loudspeaker_pulled_out_mid_reply_is_replaced_and_the_reply_goes_on(card, tmp_path):
    with on_card(loudspeaker=SPEAKER) as engine, card.recording(tmp_path / "rest.wav", HEADSET):
        engine.wait(lambda: has(engine, api.Part.LOUDSPEAKER))
        begin_reply(engine)
        card.unplug(SPEAKER)
        complete(engine)
        failed = engine.failed(api.Part.LOUDSPEAKER)[0]  # the watch may try it and tell it again
        assert failed.message.endswith(".")
        assert failed.hint
        assert engine.works()
    assert np.abs(recording(tmp_path / "rest.wav")[0]).max() > 0.01


def test_a_default_loudspeaker_that_freezes_does_not_hold_the_turn(card):
    with on_card() as engine:
        engine.wait(lambda: has(engine, api.Part.LOUDSPEAKER))
        begin_reply(engine)
        card.freeze(SPEAKER)
        lost(engine)
        # It is still the default: tried once more.
        assert len(engine.failed(api.Part.LOUDSPEAKER)) == 2
        card._run("pactl", "suspend-sink", SPEAKER, "0")
        assert engine.works()


def test_a_sound_server_that_crashes_mid_reply_ends_it_and_leaves_the_next_turn_and_start(card):
    with on_card() as engine:
        engine.wait(lambda: has(engine, api.Part.LOUDSPEAKER) and has(engine, api.Part.MICROPHONE))
        begin_reply(engine)
        card.crash()
        lost(engine)
        engine.wait(lambda: engine.failed(api.Part.MICROPHONE))
        assert engine.works()
    portaudio.refresh()
    with on_card() as engine:  # without any device both are told, and typing works
        assert engine.failed(api.Part.MICROPHONE)[0].hint
        assert engine.failed(api.Part.LOUDSPEAKER)[0].hint
        engine.post(api.PressTalk())
        assert engine.ended(1).ending is api.Ending.DEVICE_LOST
        assert engine.works()


@pytest.mark.parametrize("accident", ["unplug", "freeze"])
def test_a_microphone_lost_mid_utterance_is_told_does_not_hold_the_turn_and_is_heard_again(
    accident, card
):
    with on_card(microphone=MICROPHONE if accident == "unplug" else "") as engine:
        engine.wait(lambda: has(engine, api.Part.MICROPHONE))
        talk(engine, 1)
        engine.post(api.PressTalk())
        engine.wait(lambda: len(engine.of(api.Levels)) > 5)
        getattr(card, accident)(MICROPHONE)
        engine.wait(lambda: engine.failed(api.Part.MICROPHONE))
        engine.post(api.ReleaseTalk())
        engine.ended(2)
        assert engine.failed(api.Part.MICROPHONE)[0].hint
        assert engine.works()
        if accident == "unplug":
            card.plug(MICROPHONE)
            assert engine.works()
            talk(engine, 5)
            assert MICROPHONE in engine.of(api.DevicesChanged)[-1].microphones
