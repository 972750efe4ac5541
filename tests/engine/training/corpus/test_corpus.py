"""The corpus: phones where the sounds are, speakers that stay themselves, shards that repeat."""

# ruff: noqa: RUF001  IPA letters look like others on purpose

import gzip
import random
import re
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from engine.errors import InvalidInput
from engine.text.phonemes import Espeak
from engine.training.corpus import grammar
from engine.training.corpus import shards as corpus
from engine.training.corpus.shards import read_shards
from engine.training.corpus.speakers import BASES, Speaker, virtual_speakers
from engine.training.corpus.utterance import (
    LONGEST_SECONDS,
    SAMPLE_RATE,
    SHORTEST_PAUSE,
    Plan,
    Utterance,
    draw_plan,
    finish,
    seconds,
)
from engine.training.recipe import Recipe
from engine.training.run import Run, read_json, read_recipe
from engine.training.teachers import sounds, synthesisers
from engine.training.teachers.sounds import Sound, match
from engine.training.teachers.synthesisers import Request
from engine.tts.base import Pcm
from engine.tts.phones import own_ids
from tests.engine.training.conftest import TINY, needs_flite

TEXT = "Okay, I have set a timer for twenty minutes."


def made_of(names: str) -> list[Sound]:
    return [Sound(name, 100 * n, 100 * n + 100) for n, name in enumerate(names.split())]


HELLO = ["h", "ə", "l", "ˈoʊ"]


def test_phones_have_the_times_of_sounds():
    said, other = match(HELLO, made_of("_ h ə l oʊ _")), match(HELLO, made_of("s iː z ɜː"))
    assert (said.starts, said.end, said.cost) == ((100, 200, 300, 400), 500, 0)
    assert other.cost > 0.5
    # a filler that nobody wrote belongs to the phone before it
    assert match(["aɪ", "ɡ", "ˈoʊ"], made_of("aɪ _ ʌ m _ ɡ oʊ")).starts == (0, 500, 600)
    assert all(set(sounds.of_ipa(phone)) <= set(sounds.SOUNDS) for phone in own_ids())


@needs_flite
@pytest.mark.parametrize(("voice", "hz"), [("rms", 130.0), ("rms", 85.0), ("slt", 130.0)])
def test_a_speaker_has_the_pitch_drawn_for_them(espeak, voice, hz):
    """Whether the synthesiser heeds what it is asked for (slt) or not (rms)."""
    parselmouth = pytest.importorskip("parselmouth")
    base = next(b for b in BASES if (b.synthesiser, b.voice) == ("flite", voice))
    speaker = Speaker(9, base, warp=1.1, pitch_hz=hz, tilt_db=0.0, held_out=False)
    pcm = finished(espeak, speaker, 4.0).pcm.astype(np.float64)
    heard = parselmouth.Sound(pcm, SAMPLE_RATE).to_pitch_ac().selected_array["frequency"]
    assert float(np.median(heard[heard > 0])) == pytest.approx(hz, rel=0.1)


def finished(espeak: Espeak, speaker: Speaker, rate: float | None) -> Utterance:
    planned = Plan(TEXT, speaker, rate)
    return finish(planned, synthesisers.speak("flite", planned.request()), espeak)


@pytest.fixture(scope="module")
def speaker(tiny) -> Speaker:
    return virtual_speakers(tiny)[0]


@needs_flite
@pytest.mark.parametrize("rate", [None, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0])
def test_an_utterance_has_its_rate(espeak, speaker, rate):
    wanted = rate or speaker.base.sps
    assert finished(espeak, speaker, rate).rate == pytest.approx(wanted, rel=0.2)


@needs_flite
def test_slow_speech_pauses_between_words(espeak, speaker):
    def longest_silence(pcm: Pcm) -> int:
        return int(np.diff(np.flatnonzero(pcm)).max())

    slow, own = finished(espeak, speaker, 1.5), finished(espeak, speaker, 4.0)
    assert longest_silence(slow.pcm) > SAMPLE_RATE // 4 > longest_silence(own.pcm)
    first, second = (made.starts[2] - made.starts[0] for made in (slow, own))  # sounds of "okay"
    assert first < 2 * second
    # Every pause lies behind a word: a phone begins where it ends.
    silent = np.flatnonzero(np.diff(np.flatnonzero(slow.pcm)) >= SHORTEST_PAUSE)
    ends = np.flatnonzero(slow.pcm)[silent + 1]
    assert all(np.abs(np.asarray(slow.starts) - end).min() < 3 for end in ends)


def test_speakers_are_the_same_every_time_and_some_are_held_out(tiny):
    first = virtual_speakers(tiny)
    virtual_speakers.cache_clear()
    assert virtual_speakers(tiny) == first
    assert sum(person.held_out for person in first) == tiny.corpus.held_out_speakers


@pytest.mark.parametrize("name", ["voxtream", "speakstream", "llmvox", "smlle"])
def test_a_voice_that_a_recipe_names_is_that_of_its_speaker(name):
    recipe = read_recipe(TINY.with_name(f"{name}.toml"))
    people = virtual_speakers(recipe)
    spoken_by = [people[number].base.voice for number in recipe.export.speakers]
    assert spoken_by == list(recipe.export.voices)


def test_texts_and_rates_are_of_all_kinds(tiny):
    prose = [f"The {word} was read aloud by {word}, and nobody in the room ever spoke of it again."
             for word in ("book", "letter", "paper", "poem", "story", "table")]  # fmt: skip
    corpus = replace(
        tiny.corpus, replies=0.06, own_pace=0.2, grammar_share=0.7, lowest_rate=1.5, speakers=30
    )
    recipe, draw = replace(tiny, corpus=corpus), random.Random(1)
    plans = [draw_plan(recipe, prose, draw) for _ in range(400)]
    assert sum(each.text.count(" ") < 3 for each in plans) > 15
    assert 40 < sum(each.text in prose for each in plans) < 160
    assert all(seconds(each) < LONGEST_SECONDS - 2 for each in plans)
    rates = [each.rate for each in plans]
    assert 50 < rates.count(None) < 110
    assert 1.5 <= min(filter(None, rates)) < 2 < 5.5 < max(filter(None, rates)) <= 6.0


@needs_flite
def test_a_shard_is_a_pure_function_of_recipe_and_number(tiny, tmp_path):
    shards = []
    for name in ("one", "other"):
        index = tmp_path / f"{name}.json"
        corpus._make_shard(index, tiny, 1)
        shards.append(list(corpus.read_shard(index).spoken()))
    one, other = shards
    assert [entry for entry, _ in one] == [entry for entry, _ in other]
    assert all(np.array_equal(a, b) for (_, a), (_, b) in zip(one, other, strict=True))


@pytest.mark.slow
def test_a_finished_corpus_holds_what_its_report_says(whole):
    shards = read_shards(whole.stage("corpus"))
    seconds = sum(shard.seconds for shard in shards)
    assert 0.5 < seconds / (3600 * whole.recipe.corpus.hours) < 1.6
    for shard in shards:
        for entry, pcm in shard.spoken():
            assert len(entry.phones) == len(entry.starts)
            assert list(entry.starts) == sorted(entry.starts)
            assert entry.length == len(pcm)
            assert entry.end + SAMPLE_RATE // 10 < entry.length


def test_a_corpus_of_another_recipe_is_made_again_and_shards_too_many_are_deleted(
    tiny, tmp_path, monkeypatch
):
    monkeypatch.setattr(synthesisers, "check_installed", lambda name: None)
    monkeypatch.setattr(synthesisers, "speak", lambda name, request: None)
    hours = 2.5 * tiny.corpus.shard_seconds / 3600
    first = replace(tiny, corpus=replace(tiny.corpus, hours=hours))
    fewer = replace(first, corpus=replace(first.corpus, hours=hours / 2))
    slower = replace(fewer, corpus=replace(fewer.corpus, highest_rate=4.0))

    def made(recipe: Recipe) -> dict[str, str]:
        """The shards that a run of a recipe leaves, with the recipe that each was made for."""
        corpus.make_corpus(Run(recipe, tmp_path))
        folder = tmp_path / "corpus"
        return {file.name: read_json(file)["key"] for file in folder.glob("[0-9]*.json")}

    assert len(made(first)) == 2
    stamp = (tmp_path / "corpus" / "0000.json").stat().st_mtime_ns
    assert list(made(fewer)) == ["0000.json"]
    assert (tmp_path / "corpus" / "0000.json").stat().st_mtime_ns == stamp
    assert made(slower) == {"0000.json": corpus.shard_key(slower)}
    assert corpus.shard_key(slower) != corpus.shard_key(first) == corpus.shard_key(fewer)


def test_every_slot_of_every_template_is_filled():
    draw = random.Random(1)
    for _ in range(300):
        for text in (
            grammar.sentence("train", draw),
            grammar.sentence("test", draw),
            grammar.sentence("short", draw),
        ):
            assert re.fullmatch(r"[A-Z][A-Za-z ,.!?'-]+[.!?]", text), text


def test_prose_is_clean_sentences_of_files(tmp_path):
    text = "The cat sat on the mat. It costs $5 to use foo().\n\nThis is fine, I think."
    (tmp_path / "doc.txt").write_text(text)
    (tmp_path / "more.gz").write_bytes(gzip.compress(b"Words are kept\nin a small list."))
    (tmp_path / "torn.gz").write_bytes(gzip.compress(b"Words are lost here.")[:-9])
    assert grammar.prose(sorted(tmp_path.iterdir())) == [
        "The cat sat on the mat.",
        "This is fine, I think.",
        "Words are kept in a small list.",
    ]


def test_a_synthesiser_that_hangs_has_spoken_nothing(monkeypatch):
    def hang(command: list[str], timeout: float, **_: object) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", hang)
    assert synthesisers.speak("flite", Request(TEXT, "slt", 1.0, 170.0)) is None


def test_a_missing_synthesiser_is_named_with_its_package(monkeypatch):
    monkeypatch.setattr(synthesisers.shutil, "which", lambda _: None)
    with pytest.raises(InvalidInput, match="flite is not installed") as refusal:
        synthesisers.check_installed("flite")
    assert "apt install flite" in str(refusal.value.hint)
    with pytest.raises(InvalidInput, match="no synthesiser 'sam'"):
        synthesisers.check_installed("sam")
