"""Recorded parts become one sound file."""

import av
import numpy as np
import pytest
import soundfile

from engine.reading.audiobook import SUFFIXES, RecordedChapter, write_book


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("sample_rate", [8_000, 22_050, 24_000])
def test_speech_of_any_voice_becomes_a_file_of_any_format(sample_rate, suffix, tmp_path):
    """The formant voice has 22,050 Hz, which Opus does not know."""
    pcm = np.sin(2 * np.pi * 440 / sample_rate * np.arange(3 * sample_rate)) / 2
    soundfile.write(tmp_path / "part.flac", pcm, sample_rate)
    book = tmp_path / f"book{suffix}"
    write_book(book, [RecordedChapter("One", (tmp_path / "part.flac",))], {"title": "A Book"})
    with av.open(str(book)) as file:
        frames = list(file.decode(audio=0))
    rate = frames[0].sample_rate
    heard = np.concatenate([frame.to_ndarray().reshape(-1) for frame in frames]).astype(float)
    assert len(heard) / rate == pytest.approx(3.0, abs=0.15)
    spectrum = np.abs(np.fft.rfft(heard))
    assert np.argmax(spectrum) * rate / len(heard) == pytest.approx(440, abs=2)
