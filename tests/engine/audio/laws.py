"""What every microphone and loudspeaker must obey, a device or a file: one function a law.

A stage holds the device and the means to let time pass for it; test_laws.py builds one for each
kind.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from engine.audio.base import Loudspeaker, Microphone, Pcm
from engine.audio.pcm import level_db

SPOKEN_S = 0.5
SPOKEN_DB = -9.0  # a sine of half the full scale
CUT_S = 0.06  # the longest a cut may take to be complete: margin, fade, and one look at the device


@dataclass(frozen=True)
class MicrophoneStage:
    microphone: Microphone
    speak: Callable[[], None]  # a sine of SPOKEN_S and SPOKEN_DB begins now
    pass_time: Callable[[float], None]  # seconds


@dataclass(frozen=True)
class LoudspeakerStage:
    loudspeaker: Loudspeaker
    pass_time: Callable[[float], None]  # seconds

    def tone(self, seconds: float) -> Pcm:
        return sine(self.loudspeaker.sample_rate, seconds)

    def pass_until(self, condition: Callable[[], bool]) -> None:
        for _ in range(300):
            if condition():
                return
            self.pass_time(0.01)
        raise AssertionError("it did not happen within three seconds")


def sine(sample_rate: int, seconds: float, hertz: float = 440.0) -> Pcm:
    phase = 2 * np.pi * hertz / sample_rate * np.arange(int(sample_rate * seconds))
    return (0.5 * np.sin(phase)).astype(np.float32)


# --------------------------------------------------------------------------- microphones


def it_hears_what_is_spoken(stage: MicrophoneStage) -> None:
    stage.microphone.read()
    stage.speak()
    heard = _listen(stage, SPOKEN_S + 0.5)
    loud = heard[np.abs(heard) > 0.05]
    assert level_db(loud) == pytest.approx(SPOKEN_DB, abs=2)
    assert len(loud) / stage.microphone.sample_rate == pytest.approx(SPOKEN_S, abs=0.1)


def its_samples_are_mono_float32(stage: MicrophoneStage) -> None:
    stage.speak()
    stage.pass_time(0.2)
    pcm = stage.microphone.read()
    assert pcm.dtype == np.float32
    assert pcm.ndim == 1
    assert stage.microphone.name


def its_samples_come_as_fast_as_time(stage: MicrophoneStage) -> None:
    stage.microphone.read()
    stage.pass_time(0.2)
    stage.microphone.read()
    heard = _listen(stage, 1.0)
    assert len(heard) / stage.microphone.sample_rate == pytest.approx(1.0, abs=0.2)


def nothing_is_heard_twice(stage: MicrophoneStage) -> None:
    stage.microphone.read()
    stage.speak()
    stage.pass_time(0.3)
    first = stage.microphone.read()
    assert len(first) > 0
    assert len(stage.microphone.read()) < len(first)


def a_closed_microphone_hears_nothing(stage: MicrophoneStage) -> None:
    stage.microphone.close()
    stage.microphone.close()
    assert len(stage.microphone.read()) == 0


def _listen(stage: MicrophoneStage, seconds: float) -> Pcm:
    parts = []
    for _ in range(round(seconds / 0.02)):
        stage.pass_time(0.02)
        parts.append(stage.microphone.read())
    return np.concatenate(parts)


MICROPHONE_LAWS = (
    it_hears_what_is_spoken,
    its_samples_are_mono_float32,
    its_samples_come_as_fast_as_time,
    nothing_is_heard_twice,
    a_closed_microphone_hears_nothing,
)


# -------------------------------------------------------------------------- loudspeakers


def a_new_one_has_played_nothing(stage: LoudspeakerStage) -> None:
    new = stage.loudspeaker
    assert (new.samples_written, new.samples_played, new.underruns) == (0, 0, 0)
    assert new.gain == 1.0
    assert new.latency_s >= 0
    assert new.name


def silence_is_not_heard(stage: LoudspeakerStage) -> None:
    stage.pass_time(0.2)
    assert stage.loudspeaker.samples_played == 0


def everything_written_is_heard_once(stage: LoudspeakerStage) -> None:
    tone = stage.tone(0.3)
    assert stage.loudspeaker.write(tone) == len(tone)
    assert stage.loudspeaker.samples_written == len(tone)
    stage.pass_until(lambda: stage.loudspeaker.samples_played == len(tone))
    stage.pass_time(0.1)
    assert stage.loudspeaker.samples_played == len(tone)


def it_takes_what_it_says_it_takes(stage: LoudspeakerStage) -> None:
    second = stage.loudspeaker.sample_rate
    taken = stage.loudspeaker.write(np.zeros(20 * second, np.float32))
    assert second // 2 <= taken < 10 * second
    assert stage.loudspeaker.samples_written == taken


def nothing_is_heard_before_it_is_written(stage: LoudspeakerStage) -> None:
    for _ in range(20):
        stage.loudspeaker.write(stage.tone(0.02))
        stage.pass_time(0.015)
        assert stage.loudspeaker.samples_played <= stage.loudspeaker.samples_written


def running_empty_mid_utterance_is_one_underrun(stage: LoudspeakerStage) -> None:
    speaker = stage.loudspeaker
    speaker.expect_more(True)
    speaker.write(stage.tone(0.05))
    stage.pass_until(lambda: speaker.samples_played == speaker.samples_written)
    stage.pass_time(0.1)
    assert speaker.underruns == 1
    speaker.write(stage.tone(0.05))
    assert speaker.underruns == 1


def running_empty_at_the_end_is_no_underrun(stage: LoudspeakerStage) -> None:
    speaker = stage.loudspeaker
    speaker.expect_more(True)
    speaker.write(stage.tone(0.05))
    speaker.expect_more(False)
    stage.pass_until(lambda: speaker.samples_played == speaker.samples_written)
    stage.pass_time(0.1)
    speaker.expect_more(True)
    assert speaker.underruns == 0


def a_cut_drops_what_was_not_played(stage: LoudspeakerStage) -> None:
    speaker = stage.loudspeaker
    speaker.expect_more(True)
    speaker.write(stage.tone(0.5))
    stage.pass_until(lambda: speaker.samples_played > 0)
    speaker.cut()
    left = speaker.samples_written - speaker.samples_played
    assert left <= CUT_S * speaker.sample_rate
    stage.pass_until(lambda: speaker.samples_played == speaker.samples_written)
    stage.pass_time(0.6)
    assert speaker.samples_played == speaker.samples_written
    assert speaker.underruns == 0


def what_follows_a_cut_is_heard_at_once(stage: LoudspeakerStage) -> None:
    speaker = stage.loudspeaker
    speaker.write(stage.tone(0.6))
    stage.pass_until(lambda: speaker.samples_played > 0)
    speaker.cut()
    speaker.write(stage.tone(0.05))
    stage.pass_time(0.3)  # less than the first one would have lasted
    assert speaker.samples_played == speaker.samples_written


def ten_fast_cuts_leave_the_count_right(stage: LoudspeakerStage) -> None:
    speaker = stage.loudspeaker
    for _ in range(10):
        speaker.write(stage.tone(0.2))
        stage.pass_time(0.02)
        speaker.cut()
    stage.pass_until(lambda: speaker.samples_played == speaker.samples_written)
    before = speaker.samples_played
    assert speaker.write(stage.tone(0.1)) == len(stage.tone(0.1))
    stage.pass_until(lambda: speaker.samples_played == speaker.samples_written)
    assert speaker.samples_played - before == len(stage.tone(0.1))


def a_gain_is_kept(stage: LoudspeakerStage) -> None:
    stage.loudspeaker.write(stage.tone(0.1))
    stage.loudspeaker.gain = 0.25
    assert stage.loudspeaker.gain == 0.25
    assert stage.loudspeaker.samples_written == len(stage.tone(0.1))


def a_closed_one_takes_nothing(stage: LoudspeakerStage) -> None:
    stage.loudspeaker.write(stage.tone(0.1))
    stage.loudspeaker.close()
    stage.loudspeaker.close()
    assert stage.loudspeaker.write(stage.tone(0.1)) == 0
    assert stage.loudspeaker.samples_played <= stage.loudspeaker.samples_written


LOUDSPEAKER_LAWS = (
    a_new_one_has_played_nothing,
    silence_is_not_heard,
    everything_written_is_heard_once,
    it_takes_what_it_says_it_takes,
    nothing_is_heard_before_it_is_written,
    running_empty_mid_utterance_is_one_underrun,
    running_empty_at_the_end_is_no_underrun,
    a_cut_drops_what_was_not_played,
    what_follows_a_cut_is_heard_at_once,
    ten_fast_cuts_leave_the_count_right,
    a_gain_is_kept,
    a_closed_one_takes_nothing,
)
