"""A synthesis goes into a file or through the loudspeaker, and every fault is a sentence."""

import errno
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from engine.audio.base import Pcm
from engine.errors import DeviceError, InvalidInput, ModelError
from engine.runtime.factories import Factories
from engine.runtime.host import say_command
from engine.runtime.host.offline_synthesis import OfflineSynthesis, Script
from engine.runtime.host.say_command import play, say_with, write_wav
from engine.settings import Manner, Settings, SpeechSettings
from engine.tts.base import Progress, TtsModel
from tests.engine.runtime.by_hand import HandClock
from tests.fakes import FORMANT, RATE, FakeParts, HandLoudspeaker
from tests.fakes_tts import SAMPLE_RATE, FakeTts


def factories(model: TtsModel) -> Factories:
    return replace(FakeParts().factories(), synthesiser=lambda settings, progress: model)


def speech(**changes: Any) -> Settings:
    return Settings(speech=SpeechSettings(engine="fake", **changes))


def test_a_text_becomes_a_wav_and_a_report_by_the_settings_unless_something_else_is_asked(
    tmp_path: Path,
) -> None:
    model, out = FakeTts(), tmp_path / "out.wav"
    report = say_with("Go on now.", speech(rate=2.0), Manner(out=out), factories(model))
    pcm, sample_rate = soundfile.read(out)
    assert sample_rate == SAMPLE_RATE
    assert len(pcm) / sample_rate == report.audio_s == 1.5
    assert {point.target for point in report.rate} == {2.0}
    assert np.abs(pcm).max() > 0.2
    assert model.closed
    assert list(tmp_path.iterdir()) == [out]
    manner = Manner(rate_plan="0:own", out=out)
    assert say_with("Go on now.", speech(rate=2.0), manner, factories(FakeTts())).audio_s == 0.75


def test_an_unknown_voice_is_refused_and_the_model_released(tmp_path: Path) -> None:
    model = FakeTts()
    with pytest.raises(InvalidInput, match="Nobody"):
        say_with("Go.", speech(), Manner(voice="Nobody", out=tmp_path / "o.wav"), factories(model))
    assert model.closed


def test_what_is_cancelled_leaves_no_file_and_releases_the_model(tmp_path: Path) -> None:
    model = FakeTts()

    def cancel(share: float) -> None:
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        say_with("go " * 500, speech(), Manner(out=tmp_path / "o.wav"), factories(model), cancel)
    assert list(tmp_path.iterdir()) == []
    assert 200 < len(model.spoken) < 400
    assert model.closed


def test_a_full_disk_keeps_the_old_file_and_leaves_no_rubbish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.wav"
    out.write_bytes(b"old")

    def full(file: soundfile.SoundFile, pcm: Pcm) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(say_command.soundfile.SoundFile, "write", full)
    with pytest.raises(InvalidInput, match="No space left"):
        write_wav(out, [np.zeros(10, np.float32)], RATE)
    assert out.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [out]


def test_samples_beyond_full_scale_are_clipped(tmp_path: Path) -> None:
    out = tmp_path / "out.wav"
    write_wav(out, [np.array([2.0], np.float32), np.array([-2.0, 0.5], np.float32)], RATE)
    pcm, _ = soundfile.read(out)
    assert pcm == pytest.approx([1.0, -1.0, 0.5], abs=1e-4)


@pytest.mark.parametrize("stands_still", [False, True])
def test_an_offline_synthesis_is_heard_whole_and_never_far_ahead_of_the_ear(
    *, stands_still: bool
) -> None:
    loudspeaker = HandLoudspeaker()
    hand = HandClock(None if stands_still else loudspeaker)
    clock = hand.clock
    synthesis = OfflineSynthesis(FakeTts(), Script("go " * 12, FakeTts().voices()[0]), clock)
    told = pytest.raises(DeviceError, match="stands still") if stands_still else nullcontext()
    with told:
        play(synthesis, loudspeaker, sample_rate=SAMPLE_RATE, lead_ms=240, clock=clock)
    assert loudspeaker.samples_played == (0 if stands_still else 3 * RATE)
    assert loudspeaker.underruns == 0
    assert max(hand.leads) < (0.24 + 0.09) * RATE


def test_aloud_a_voice_gets_the_lead_it_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    parts, given = FakeParts(), dict[str, Any]()
    parts.voice.info = replace(parts.voice.info, lead_ms=500)

    def heard(synthesis: OfflineSynthesis, _: object, **options: int) -> None:
        given.update(options)
        list(synthesis.frames())

    monkeypatch.setattr(say_command, "play", heard)
    say_with("Go on now.", FORMANT, Manner(), parts.factories())
    assert given["lead_ms"] == 500


def test_aloud_the_loudspeaker_of_the_settings_is_used_and_closed() -> None:
    parts = FakeParts()
    loudspeaker = parts.loudspeakers[""]
    loudspeaker.gone = True
    model = FakeTts()
    real = replace(parts.factories(), synthesiser=lambda settings, progress: model)
    with pytest.raises(DeviceError, match="gone"):
        say_with("Go on now.", speech(), Manner(), real)
    assert loudspeaker.closed
    assert model.closed


@pytest.mark.parametrize("engine", [SpeechSettings().engine, "voxtream2"])
def test_the_formant_voice_stands_in_for_the_default_alone(
    engine: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out = tmp_path / "said.wav"

    def synthesiser(settings: SpeechSettings, progress: Progress) -> TtsModel:
        if settings.engine != "espeak":
            raise ModelError("The pack is missing.", hint="Install it.")
        return FakeTts()

    there = replace(FakeParts().factories(), synthesiser=synthesiser)
    settings = Settings(speech=SpeechSettings(engine=engine))
    if engine == "voxtream2":  # asked for by name
        with pytest.raises(ModelError, match="missing"):
            say_with("Go.", settings, Manner(out=out), there)
    else:
        assert say_with("Go.", settings, Manner(out=out), there).engine == "fake"
        assert "The pack is missing. Install it. Until then espeak speaks." in caplog.text
