"""What every loudspeaker must obey, a device or a file."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from engine.audio.base import Loudspeaker, Pcm
from engine.audio.devices import portaudio
from engine.audio.devices.file_device import FileLoudspeaker
from tests.engine.audio.tone import sine
from tests.stepped_clock import SteppedClock

RATE = 16_000
KINDS = ["memory", "file", pytest.param("device", marks=[pytest.mark.device, pytest.mark.slow])]
CUT_S = 0.06  # the longest a cut may take to be complete: margin, fade, and one look at the device


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


@pytest.fixture(params=KINDS)
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LoudspeakerStage]:
    if request.param == "device":
        request.getfixturevalue("shared_card")
        loudspeaker = portaudio.open_loudspeaker()
        yield LoudspeakerStage(loudspeaker, time.sleep)
        loudspeaker.close()
        return
    clock = SteppedClock()
    path = tmp_path / "out.wav" if request.param == "file" else None
    written = FileLoudspeaker(path, RATE, clock=clock)
    yield LoudspeakerStage(written, clock.advance)
    written.close()


def test_a_new_one_has_played_nothing(stage: LoudspeakerStage) -> None:
    new = stage.loudspeaker
    assert (new.samples_written, new.samples_played, new.underruns) == (0, 0, 0)
    assert new.gain == 1.0
    assert new.latency_s >= 0
    assert new.name


def test_silence_is_not_heard(stage: LoudspeakerStage) -> None:
    stage.pass_time(0.2)
    assert stage.loudspeaker.samples_played == 0


def test_everything_written_is_heard_once(stage: LoudspeakerStage) -> None:
    tone = stage.tone(0.3)
    assert stage.loudspeaker.write(tone) == len(tone)
    assert stage.loudspeaker.samples_written == len(tone)
    stage.pass_until(lambda: stage.loudspeaker.samples_played == len(tone))
    stage.pass_time(0.1)
    assert stage.loudspeaker.samples_played == len(tone)


def test_it_takes_what_it_says_it_takes(stage: LoudspeakerStage) -> None:
    second = stage.loudspeaker.sample_rate
    taken = stage.loudspeaker.write(np.zeros(20 * second, np.float32))
    assert second // 2 <= taken < 10 * second
    assert stage.loudspeaker.samples_written == taken


def test_nothing_is_heard_before_it_is_written(stage: LoudspeakerStage) -> None:
    for _ in range(20):
        stage.loudspeaker.write(stage.tone(0.02))
        stage.pass_time(0.015)
        assert stage.loudspeaker.samples_played <= stage.loudspeaker.samples_written


def test_running_empty_mid_utterance_is_one_underrun(stage: LoudspeakerStage) -> None:
    speaker = stage.loudspeaker
    speaker.expect_more(True)
    speaker.write(stage.tone(0.05))
    stage.pass_until(lambda: speaker.samples_played == speaker.samples_written)
    stage.pass_time(0.1)
    assert speaker.underruns == 1
    speaker.write(stage.tone(0.05))
    assert speaker.underruns == 1


def test_running_empty_at_the_end_is_no_underrun(stage: LoudspeakerStage) -> None:
    speaker = stage.loudspeaker
    speaker.expect_more(True)
    speaker.write(stage.tone(0.05))
    speaker.expect_more(False)
    stage.pass_until(lambda: speaker.samples_played == speaker.samples_written)
    stage.pass_time(0.1)
    speaker.expect_more(True)
    assert speaker.underruns == 0


def test_a_cut_drops_what_was_not_played(stage: LoudspeakerStage) -> None:
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


def test_what_follows_a_cut_is_heard_at_once(stage: LoudspeakerStage) -> None:
    speaker = stage.loudspeaker
    speaker.write(stage.tone(0.6))
    stage.pass_until(lambda: speaker.samples_played > 0)
    speaker.cut()
    speaker.write(stage.tone(0.05))
    stage.pass_time(0.3)  # less than the first one would have lasted
    assert speaker.samples_played == speaker.samples_written


def test_ten_fast_cuts_leave_the_count_right(stage: LoudspeakerStage) -> None:
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


def test_a_gain_is_kept(stage: LoudspeakerStage) -> None:
    stage.loudspeaker.write(stage.tone(0.1))
    stage.loudspeaker.gain = 0.25
    assert stage.loudspeaker.gain == 0.25
    assert stage.loudspeaker.samples_written == len(stage.tone(0.1))


def test_a_closed_one_takes_nothing(stage: LoudspeakerStage) -> None:
    stage.loudspeaker.write(stage.tone(0.1))
    stage.loudspeaker.close()
    stage.loudspeaker.close()
    assert stage.loudspeaker.write(stage.tone(0.1)) == 0
    assert stage.loudspeaker.samples_played <= stage.loudspeaker.samples_written
