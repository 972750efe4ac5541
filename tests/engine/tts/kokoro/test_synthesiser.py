"""Kokoro as a synthesiser: what it needs, refuses and prepares."""

from pathlib import Path

import numpy as np

from engine.tts.kokoro.synthesiser import KokoroSynthesiser
from tests.engine.tts import laws
from tests.engine.tts.kokoro.small import scratch, small, small_parts, small_voice


def test_warming_learns_the_voice_once(tmp_path: Path) -> None:
    voice = small_voice()
    small(tmp_path).warm(voice)
    (file,) = tmp_path.iterdir()
    before = file.stat().st_mtime_ns
    again = small(tmp_path)
    again.warm(voice)
    again.close()
    assert (list(tmp_path.iterdir()), file.stat().st_mtime_ns) == ([file], before)


def test_a_british_voice_speaks_british_phones() -> None:
    """The same style in two kinds of English: the words that differ sound otherwise."""
    voices = small_voice(), small_voice("en-gb")
    said = []
    for voice in voices:
        model = KokoroSynthesiser(small_parts(), (voice,), scratch("learnt"))
        said.append(laws.say(model, [["Go"], ["home."]]).pcm)
    assert len(said[0]) != len(said[1]) or not np.array_equal(*said)


def test_a_seed_changes_nothing() -> None:
    model = small()
    one, other = (laws.say(model, [["Hello", "there."]], seed=seed) for seed in (1, 2))
    laws.assert_same(one, other)
