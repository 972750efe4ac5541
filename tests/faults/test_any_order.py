"""Anything in any order (stories.py) on a stepped clock: what fails once fails again."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine import api
from engine.audio import vad
from engine.audio.base import Pcm, SilentLoudspeaker
from engine.runtime.turn import waiting
from engine.runtime.workers.voice.speech_worker import LONGEST_PAUSE_S
from engine.settings import Settings, change, keys
from tests.faults import stories
from tests.help.fakes.parts import RATE
from tests.help.fakes.stepped_clock import SteppedClock
from tests.simulation.stepped import FreeWorker, SteppedWorker, stepping

STEP_S = 0.01
VOICE: Pcm = np.full(int(STEP_S * RATE), stories.LOUD, np.float32)
QUIET: Pcm = np.zeros(int(STEP_S * RATE), np.float32)
STALLED_S = LONGEST_PAUSE_S + 0.5  # nothing here is slow
AT_MOST_S = 100.0  # until quiet returns: no reply here is longer, and nothing here stands still
# Steps until the next act; in the longest a turn that stands still is found by the watchdog.
MOMENTS = st.sampled_from([0, 1, 3, 10, 40, 80, 120, 500])


def test_every_setting_is_changed_to_what_is_allowed_and_to_what_is_not():
    assert {key for key, _ in stories.CHANGES} == set(keys())
    for key, value in stories.CHANGES:
        change(Settings(), key, value)


@dataclass
class Stepped:
    trial: stories.Trial
    clock: SteppedClock
    workers: list[SteppedWorker]

    def step(self) -> None:
        self.clock.advance(STEP_S)
        for microphone in self.trial.parts.microphones.values():
            microphone.hear(VOICE if self.trial.speaks else QUIET)
        for loudspeaker in self.trial.parts.loudspeakers.values():
            loudspeaker.play(len(QUIET))
        for worker in (*self.workers, *self.workers):
            worker.run()

    def settle(self) -> None:
        self.trial.repair()
        for _ in range(round(AT_MOST_S / STEP_S)):
            self.step()
            if self.trial.idle:
                break
        assert self.trial.idle, self.trial.events[-20:]


ANYTHING = given(story=stories.any_story(MOMENTS), hands_free=st.booleans(), headset=st.booleans())


def live(story: list[stories.Scene], folder: Path, *, hands_free: bool, headset: bool) -> None:
    clock, workers = SteppedClock(), []
    with pytest.MonkeyPatch.context() as patch, stepping(workers, clock, FreeWorker):
        patch.setattr(vad, "Vad", stories.LevelVad)
        patch.setattr(waiting, "STALLED_S", STALLED_S)
        patch.setattr(waiting, "TRANSCRIPT_S", STALLED_S)
        patch.setattr(SilentLoudspeaker.__init__, "__defaults__", (clock,))
        parts = stories.BrittleParts()
        trial = stories.Trial(parts, folder, hands_free=hands_free, headset=headset)
        stepped = Stepped(trial, clock, workers)
        trial.conductor.start()
        stepped.step()  # all parts load
        for act, moments in stories.acts(story):
            act(trial)
            for _ in range(moments):
                stepped.step()
        stepped.settle()
        trial.parts.loudspeakers[""].gone = False
        trial.post(api.SendText("are you there"))
        turns = len(trial.ended())
        stepped.step()
        stepped.settle()
        assert len(trial.ended()) > turns
        assert trial.answered()
        trial.conductor.stop()
        trial.check()


@pytest.mark.slow
@settings(stories.SLOW, max_examples=12)
@example(story=stories.STEPPED_STORY, hands_free=False, headset=False)
@ANYTHING
def test_every_turn_ends_once_and_the_next_question_is_answered(
    story, hands_free, headset, tmp_path
):
    live(story, tmp_path, hands_free=hands_free, headset=headset)


@pytest.mark.long
@pytest.mark.timeout(1800)
@settings(stories.SLOW, max_examples=200)
@ANYTHING
def test_so_they_do_in_many_more_stories(story, hands_free, headset, tmp_path):
    live(story, tmp_path, hands_free=hands_free, headset=headset)
