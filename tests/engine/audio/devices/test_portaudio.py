"""The real device path, on a sound card that exists only for the test."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.audio.base import Loudspeaker, Microphone, Pcm
from engine.audio.devices import portaudio, stream
from engine.errors import DeviceError
from tests.engine.audio.tone import sine
from tests.help.machine.virtual_audio import HEADSET, MICROPHONE, SPEAKER, virtual_audio
from tests.help.process.fresh_python import prints

RATE = 48_000
LOUDEST_STEP = 0.5 * 2 * np.pi * 440 / RATE + 0.5 / 480  # of tone.sine with a 10 ms fade
NOTICED_S = 1.0  # how soon a lost device must be told


@pytest.fixture(autouse=True)
def _may_look_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test may make PortAudio look for new devices, as after a few quiet seconds."""
    monkeypatch.setattr(portaudio._HOST, "looked_at", -1e9)


def _play_out(speaker: Loudspeaker, pcm: Pcm) -> None:
    while len(pcm):
        pcm = pcm[speaker.write(pcm) :]
        time.sleep(0.01)
    _until(lambda: speaker.samples_played == speaker.samples_written)
    time.sleep(speaker.latency_s + 0.2)


def _until(condition: Callable[[], bool], seconds: float = 3.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.005)


def _seconds_until_lost(use: Callable[[], object]) -> float:
    began = time.monotonic()
    while time.monotonic() < began + 5:
        try:
            use()
        except DeviceError:
            return time.monotonic() - began
        time.sleep(0.02)
    raise AssertionError("the lost device was never told")


def _recorded(wav: Path) -> Pcm:
    """The left channel between the first and the last sample that can be heard."""
    pcm, rate = soundfile.read(wav, dtype="float32")
    assert rate == RATE
    np.testing.assert_array_equal(pcm[:, 0], pcm[:, 1])  # the voice is in the middle
    loud = np.flatnonzero(np.abs(pcm[:, 0]) > 0.002)
    return pcm[loud[0] : loud[-1] + 1, 0]


def _hear(microphone: Microphone, seconds: float) -> Pcm:
    parts = []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        time.sleep(0.02)
        parts.append(microphone.read())
    return np.concatenate(parts)


@pytest.mark.device
@pytest.mark.slow
class TestOnACard:
    def test_what_is_written_leaves_the_speaker_unchanged(self, shared_card, tmp_path):
        noise = np.random.default_rng(3).uniform(-0.5, 0.5, RATE).astype(np.float32)
        for _ in range(3):
            speaker = portaudio.open_loudspeaker(SPEAKER)
            with shared_card.recording(tmp_path / "out.wav"):
                _play_out(speaker, noise)
            speaker.close()
            heard = _recorded(tmp_path / "out.wav")
            if len(heard) <= RATE + 100:  # longer: the card ran dry while the machine was busy
                break
        assert len(heard) == pytest.approx(RATE, abs=100)
        lag = np.argmax(np.correlate(heard[:2000], noise[500:1500], "valid"))
        overlap = heard[lag : lag + RATE - 1000]
        np.testing.assert_allclose(overlap, noise[500 : 500 + len(overlap)], atol=1e-3)

    def test_a_cut_and_a_duck_do_not_click(self, shared_card, tmp_path):
        speaker = portaudio.open_loudspeaker(SPEAKER)
        with shared_card.recording(tmp_path / "out.wav"):
            speaker.write(sine(RATE, 0.8))
            _until(lambda: speaker.samples_played > RATE // 5)
            speaker.gain = 0.3
            _until(lambda: speaker.samples_played > 2 * RATE // 5)
            speaker.cut()
            time.sleep(0.3)
        speaker.close()
        heard = _recorded(tmp_path / "out.wav")
        assert len(heard) < 0.5 * RATE
        assert np.abs(heard[-2000:-600]).max() == pytest.approx(0.15, abs=0.01)
        assert np.abs(np.diff(heard)).max() <= LOUDEST_STEP

    def test_devices_are_known_by_name(self, shared_card):
        with pytest.raises(DeviceError, match="'Theremin' is not connected") as caught:
            portaudio.open_microphone("Theremin")
        assert MICROPHONE in caught.value.hint
        found = portaudio.devices()
        assert {SPEAKER, HEADSET} <= set(found.loudspeakers)
        assert MICROPHONE in found.microphones
        speaker = portaudio.open_loudspeaker(HEADSET)
        assert (speaker.name, speaker.sample_rate) == (HEADSET, RATE)
        speaker.close()

    def test_open_devices_go_on_after_a_refresh(self, shared_card):
        microphone, speaker = portaudio.open_microphone(), portaudio.open_loudspeaker()
        speaker.write(sine(RATE, 0.9))
        _until(lambda: speaker.samples_played > RATE // 10)
        portaudio.refresh()
        _until(lambda: speaker.samples_played == len(sine(RATE, 0.9)))
        microphone.read()
        assert len(_hear(microphone, 0.5)) > 0.3 * RATE
        microphone.close()
        speaker.close()

    def test_a_reader_who_comes_late_loses_samples_and_is_told(self, shared_card, monkeypatch):
        monkeypatch.setattr("engine.audio.devices.stream._HEARD_S", 0.5)
        microphone = portaudio.open_microphone()
        time.sleep(1.2)
        assert len(microphone.read()) > 0.5 * RATE
        assert microphone.overruns == 1
        assert len(_hear(microphone, 0.3)) > 0.1 * RATE
        microphone.close()


@pytest.mark.device
@pytest.mark.slow
@pytest.mark.own_process
def test_a_crashed_sound_server_is_told_with_advice_and_nothing_lost_comes_back(card, monkeypatch):
    monkeypatch.setattr(stream, "_SETTLED_S", 0.0)  # one just opened may stand still for longer
    default, named = portaudio.open_microphone(), portaudio.open_microphone(MICROPHONE)
    card.crash()
    assert _seconds_until_lost(default.read) < NOTICED_S
    default.close()
    portaudio.refresh()
    with pytest.raises(DeviceError, match="was disconnected"):
        _hear(named, 0.2)
    named.close()
    with pytest.raises(DeviceError, match="No microphone was found") as caught:
        portaudio.open_microphone()
    assert "pactl info" in caught.value.hint


@pytest.mark.device
@pytest.mark.slow
def test_a_device_plugged_in_later_can_be_opened(tmp_path):
    (tmp_path / "asound.conf").write_text("</usr/share/alsa/alsa.conf>\n")
    with pytest.MonkeyPatch.context() as before:
        before.setenv("ALSA_CONFIG_PATH", str(tmp_path / "asound.conf"))
        before.setenv("PULSE_SERVER", f"unix:{tmp_path}/none")
        portaudio.refresh()
        assert SPEAKER not in portaudio.devices().loudspeakers
        with tempfile.TemporaryDirectory(prefix="card") as folder, virtual_audio(Path(folder)):
            speaker = portaudio.open_loudspeaker(SPEAKER)
            assert speaker.name == SPEAKER
            speaker.close()
    portaudio.refresh()


def test_a_missing_sound_library_is_told_with_its_package_once_it_is_needed(tmp_path):
    """Not when the audio part is imported: many who do that open no device."""
    # What sounddevice does at import on a machine without libportaudio.
    (tmp_path / "sounddevice.py").write_text("raise OSError('PortAudio library not found')\n")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from engine.audio.devices import portaudio\n"
        "from engine.errors import DeviceError\n"
        "try: portaudio.open_microphone()\n"
        "except DeviceError as error: print(error)\n"
    )
    before = "import sys, engine.audio.devices.portaudio\nassert 'sounddevice' not in sys.modules\n"
    said = prints(before + program)
    assert "PortAudio is not installed" in said
    assert "libportaudio2" in said
