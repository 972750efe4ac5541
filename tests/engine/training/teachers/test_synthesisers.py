"""Kokoro's whole sentences: phones where its sounds are, rates that are exact, blends of voices."""

# ruff: noqa: RUF001  IPA letters look like others on purpose

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.text.phonemes import Espeak
from engine.training.corpus.speakers import BASES, Speaker
from engine.training.corpus.utterance import Plan, Utterance, finish
from engine.training.teachers import sounds, synthesisers
from engine.tts.kokoro import parts, plan, session
from engine.tts.kokoro.parts import FRAME

TEXT = "If it is windy by the river, remember the heating."
HEART = next(base for base in BASES if base.voice == "Heart")
VOWELS = frozenset("AIOQWYaeiouɑɒæəɛɜɪʊʌᵻᵊɔˈˌː")


class FakeParts:
    """Every symbol is two frames and a half long by itself."""

    source = SimpleNamespace(curves=lambda pitch, energy: pitch, turns=lambda pitch: pitch)

    def encode(self, ids: list[int], style: Any) -> parts.EncodedText:
        return parts.EncodedText(np.array(ids), np.full(len(ids), 2.5), np.zeros(1, np.float32))

    def features(self, encoded: Any, style: Any, frames: Any) -> tuple[Any, ...]:
        return tuple(np.zeros(count * int(frames.sum()), np.float32) for count in (1, 2, 2))


def hum(_parts: Any, _given: Any, said: plan.Plan, first: int, last: int) -> Any:
    """Loud in vowels, silent in marks and gaps, three frames early, as the real one."""
    levels = [0.5 if each in VOWELS else 0.05 * each.isalpha() for each in said.script.text]
    pcm = np.repeat(np.array([0.0, *levels, 0.0], np.float32), said.frames * FRAME)
    pcm *= np.sin(np.arange(len(pcm)) / 20).astype(np.float32)
    return pcm[FRAME * (first + plan.EARLY) :][: FRAME * (last - first)]


@pytest.fixture
def _fake(monkeypatch, espeak) -> None:
    speaker = plan.Speaker(np.zeros((1, 256), np.float32), accent="en-us", own_rate=4.4)
    made: Any = session.VoiceParts(FakeParts(), espeak, speaker, {})  # type: ignore[arg-type]
    monkeypatch.setattr(synthesisers, "kokoro_voice", lambda name: made)
    monkeypatch.setattr(synthesisers, "render", hum)


def said(espeak: Espeak, rate: float | None, warp: float = 1.0, text: str = TEXT) -> Utterance:
    planned = Plan(text, Speaker(3, HEART, warp, 0.0, 0.0, held_out=False), rate)
    take = synthesisers.speak("kokoro", planned.request())
    assert take.sounds[-1].end == len(take.pcm)
    return finish(planned, take, espeak)


@pytest.mark.usefixtures("_fake")
@pytest.mark.parametrize("warp", [1.0, 1.07])
@pytest.mark.parametrize("rate", [1.5, 2.5, 4.0, 5.5])
def test_an_utterance_has_its_rate(espeak, rate, warp) -> None:
    made = said(espeak, rate, warp)
    assert made.rate == pytest.approx(rate, rel=0.03)
    assert [mark for _, mark in made.marks] == [",", "."]
    assert len(made.starts) == len(made.phones)


@pytest.mark.usefixtures("_fake")
@pytest.mark.parametrize("rate", [None, 4.0, 1.5, 6.0])
@pytest.mark.parametrize("text", [TEXT, f"{TEXT} Then we might leave at noon."])
def test_phones_are_at_their_sounds(espeak, rate, text) -> None:
    made = said(espeak, rate, text=text)
    ends = [*made.starts[1:], made.end]
    for phone, start, end in zip(made.phones, made.starts, ends, strict=True):
        middle = (start + min(end, start + 2 * FRAME)) // 2
        level = float(np.abs(made.pcm[middle - 150 : middle + 150]).max())
        vowel = sounds.of_ipa(phone)[0] in sounds.VOWELS
        assert (level > 0.3 * np.abs(made.pcm).max()) == vowel, phone


@pytest.mark.usefixtures("_fake")
def test_a_text_without_a_sound_is_not_spoken() -> None:
    assert synthesisers.speak("kokoro", synthesisers.Request("...", "Heart", 1, 0)) is None
