"""The packs that come with the program, heard: every one speaks, ends, and is understood; and what
the papers say of their systems shows, where it does.

A few seconds a pack. The built-in voice, a VoXtream2, is held to the same.
"""

import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from engine.systems import SYSTEMS
from engine.training.evaluation.performance import Spoken, say
from engine.training.evaluation.recognisers import Recogniser, word_error_rate
from engine.training.evaluation.voices import loaded
from engine.tts import packs
from engine.tts.base import TtsModel
from engine.tts.delays import Trace, timing, trace, words_before_sound
from tests.engine.training.test_shipped import SENTENCES
from tests.engine.tts.laws import say as say_in_chunks
from tests.engine.tts.llmvox.small_pack import write_pack

RESOURCES = Path(__file__).parents[3] / "resources"
BUILT_IN = RESOURCES / "starter"
THERE = {
    system.name: folder
    for system in SYSTEMS
    if (folder := RESOURCES / packs.SHIPPED / system.name).is_dir()
}
FOLDERS = {"voxtream2": BUILT_IN, **THERE}
LARGEST_BYTES = 10_000_000  # of a paper's pack
ALL_BYTES = 34_000_000  # of all of them
SAID = (SENTENCES[1], SENTENCES[13])
# Words wrong, of 11, with a bigram of twenty sentences. Speech is understood, or words are lost
# by the dozen: of weights that know nothing, all are wrong.
BOUND = 0.3
SLOW_WORDS_S = 0.2


@dataclass(frozen=True)
class Heard:
    """A pack, loaded, and what its first voice said."""

    model: TtsModel
    said: tuple[Spoken, ...]


@pytest.fixture(scope="module", params=FOLDERS)
def heard(request: pytest.FixtureRequest) -> Iterator[Heard]:
    yield heard_of(FOLDERS[request.param])
    loaded.cache_clear()


@pytest.fixture(scope="module")
def judge() -> Recogniser:
    return Recogniser(SENTENCES)


def heard_of(folder: Path) -> Heard:
    model = loaded(str(folder))
    return Heard(model, tuple(say(model, model.voices()[0], text) for text in SAID))


def words_wrong(judge: Recogniser, said: Iterable[Spoken]) -> float:
    said = tuple(said)
    transcripts = [judge.hear(each.pcm, each.sample_rate) for each in said]
    return word_error_rate([each.text for each in said], transcripts)


@pytest.mark.slow
def test_it_is_understood_and_ends_by_itself(heard: Heard, judge: Recogniser) -> None:
    assert all(each.ended for each in heard.said)
    assert words_wrong(judge, heard.said) <= BOUND


@pytest.mark.slow
def test_word_by_word_is_all_at_once_or_repeats_its_trace(heard: Heard) -> None:
    words = SAID[0].split()
    one, other = ([words], [[word] for word in words])
    if heard.model.info.reads_ahead:  # which words were known is of the trace: the same one twice
        one = other
    first, again = (say_in_chunks(heard.model, chunks).pcm for chunks in (one, other))
    assert np.array_equal(first, again)


@pytest.mark.slow
def test_weights_that_know_nothing_would_be_noticed(tmp_path: Path, judge: Recogniser) -> None:
    babble = heard_of(write_pack(tmp_path / "pack"))
    loaded.cache_clear()
    assert words_wrong(judge, babble.said) > 2 * BOUND


def test_the_packs_are_small_and_say_what_they_are() -> None:
    sizes = {name: sum(f.stat().st_size for f in at.rglob("*.*")) for name, at in THERE.items()}
    assert {name: size for name, size in sizes.items() if size > LARGEST_BYTES} == {}
    assert sum(sizes.values()) <= ALL_BYTES
    for name, folder in THERE.items():
        assert packs.system_of(folder) == name
        assert 10 < (folder / "CARD.md").read_text(encoding="utf-8").count("\n") < 120


# ------------------------------------------------------------------------- what the papers say


@pytest.fixture(scope="module")
def traces() -> dict[str, list[Trace]]:
    """How each pack speaks some sentences, word by word."""
    found = {}
    for name, folder in FOLDERS.items():
        model = loaded(str(folder))
        found[name] = [trace(model, model.voices()[0], text) for text in SENTENCES[:3]]
    loaded.cache_clear()
    return found


def there(*names: str) -> pytest.MarkDecorator:
    missing = [name for name in names if name not in FOLDERS]
    return pytest.mark.skipif(bool(missing), reason=f"no pack of {', '.join(missing)} ships")


@pytest.mark.slow
@there("voxtream")
def test_voxtream_begins_at_the_first_word(traces: dict[str, list[Trace]]) -> None:
    before = {name: median(map(words_before_sound, each)) for name, each in traces.items()}
    assert before["voxtream"] == 1
    assert before["voxtream"] <= min(before.values())


@pytest.mark.slow
@there("speakstream")
def test_each_word_that_speakstream_knows_ahead_costs_a_word_s_delay(tmp_path: Path) -> None:
    needed = []
    for window in (1, 2, 3):
        folder = shutil.copytree(FOLDERS["speakstream"], tmp_path / str(window))
        config = json.loads((folder / packs.CONFIG_FILE).read_text(encoding="utf-8"))
        config["generation"] |= {"window": window, "hop": 1}
        (folder / packs.CONFIG_FILE).write_text(json.dumps(config), encoding="utf-8")
        model = loaded(str(folder))
        needed.append(words_before_sound(trace(model, model.voices()[0], SENTENCES[0])))
        loaded.cache_clear()
    assert {later - sooner for sooner, later in pairwise(needed)} == {1}


@pytest.mark.slow
@there("llmvox")
def test_llmvox_runs_dry_first(traces: dict[str, list[Trace]]) -> None:
    dry = {
        name: sum(timing(each, SLOW_WORDS_S).dry_s for each in found)
        for name, found in traces.items()
    }
    assert max(dry, key=lambda name: dry[name]) == "llmvox"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in THERE if name in ("speakstream", "smlle")])
def test_voxtream2_follows_a_rate_best(name: str) -> None:
    assert rate_error(FOLDERS["voxtream2"]) < rate_error(FOLDERS[name])


def rate_error(folder: Path) -> float:
    """Mean error of the slowest and a high rate, as a share."""
    model, errors = loaded(str(folder)), []
    for asked in (2.0, 6.0):
        found = [say(model, model.voices()[0], text, (asked,)).rate for text in SENTENCES[:4]]
        errors.append(abs(sum(found) / len(found) - asked) / asked)
    return sum(errors) / len(errors)
