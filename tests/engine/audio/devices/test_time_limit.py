"""A device that goes while PortAudio is busy with it."""

import atexit
import subprocess
import sys
from threading import Event

import pytest
import sounddevice

from engine.audio.devices import portaudio, time_limit
from engine.audio.devices.time_limit import any_left_behind, within_limit
from engine.errors import DeviceError
from tests.help.machine.virtual_audio import HEADSET, SPEAKER


def test_what_the_system_refuses_comes_as_it_is():
    def refuse() -> None:
        raise sounddevice.PortAudioError("no", -9985)

    with pytest.raises(sounddevice.PortAudioError, match="no"):
        within_limit(refuse)
    assert not any_left_behind()


def test_after_a_call_that_does_not_return_new_devices_are_refused(monkeypatch):
    monkeypatch.setattr(time_limit, "_LIMIT_S", 0.05)
    monkeypatch.setattr(time_limit, "_left_behind", [])
    monkeypatch.setattr(time_limit, "_silence_libraries", lambda: None)
    end = Event()
    with pytest.raises(TimeoutError):
        within_limit(end.wait)
    end.set()
    atexit.register(sounddevice._exit_handler)  # as it was
    assert any_left_behind()
    with pytest.raises(DeviceError, match="any more") as caught:
        portaudio.refresh()
    assert "again" in caught.value.hint


_PRINTS = """
import os, sys
from engine.audio.devices.time_limit import _silence_libraries
_silence_libraries()
os.write(2, b"of a library")
print("of ours", file=sys.stderr)
"""


def test_what_libraries_print_is_silenced_and_what_we_print_is_not():
    ended = subprocess.run([sys.executable, "-c", _PRINTS], capture_output=True, text=True)
    assert ended.stderr == "of ours\n"


# In a process of its own, as it can never look for devices again.
_GOES_MEANWHILE = f"""
import subprocess, rtmixer
from engine.audio.devices import portaudio, time_limit
from engine.errors import DeviceError

class Mixer(rtmixer.Mixer):
    def start(self):
        subprocess.run(["pactl", "unload-module", "module-null-sink"], check=True)
        super().start()

kept, rtmixer.Mixer = rtmixer.Mixer, Mixer
other = portaudio.open_microphone()
usual_s, time_limit._LIMIT_S = time_limit._LIMIT_S, 2.0  # of a call that never returns
try:
    portaudio.open_loudspeaker({HEADSET!r})
except DeviceError as error:
    print(error)
rtmixer.Mixer, time_limit._LIMIT_S = kept, usual_s
subprocess.run(["pactl", "load-module", "module-null-sink", "sink_name={SPEAKER}"], check=True)
speaker = portaudio.open_loudspeaker({SPEAKER!r})
print(speaker.name)
speaker.close()
other.close()
"""


@pytest.mark.device
@pytest.mark.slow
def test_a_loudspeaker_that_goes_while_it_is_opened_holds_up_nothing(card):
    ended = subprocess.run(
        [sys.executable, "-c", _GOES_MEANWHILE],
        env=card._environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr  # sounddevice would end it with an assertion
    said = ended.stdout.splitlines()
    assert said[0].startswith(f"The loudspeaker '{HEADSET}' was disconnected.")
    assert said[-1] == SPEAKER
