"""The page of all systems: what was measured, what was not, and how each cell is made again."""

import pytest

from engine.errors import InvalidInput
from engine.settings.systems import System
from engine.training.__main__ import main
from engine.training.compare.compare import (
    BUILT_IN,
    CLAIMS,
    SIZE,
    SYSTEMS,
    compare,
    fixed_texts,
    is_here,
    parts_of,
    write_page,
)
from engine.training.corpus import grammar
from engine.training.evaluation.parts import FIGURES, UNMEASURED, Results, read_results
from engine.tts import packs
from engine.tts.delays import FrameTiming, Trace
from tests.engine.training.conftest import judged
from tests.engine.tts.llmvox.small_model import write_pack

NOTHING = Results()
TRACE = Trace(2, (FrameTiming(1, 0.02, 0.08), FrameTiming(2, 0.01, 0.08)), (0.01, 0.15))


def test_a_page_says_what_was_measured_and_what_was_not(tmp_path):
    system = System("ghost", "ghost", 1.0, "it speaks", "a sound", "no sheet")
    said = tuple(judged(voice=name, wrong=wrong) for name, wrong in (("Ada", 0), ("Bo", 1)))
    page = write_page(tmp_path, {system: Results(said, traces=(TRACE,))}, "today")
    text = page.read_text(encoding="utf-8")
    assert "Measured today, by" in text
    assert "| words wrong, Whisper, every voice | sentences | 25.0% / 50.0% |" in text
    assert f"| replies of 1 to 3 words, Whisper | replies | {UNMEASURED} |" in text
    assert "| first packet at 500 ms a word | delays | 20 ms / 20 ms |" in text
    assert "- **ghost**: Ada 0.0% ± 0.0, Bo 50.0%" in text
    for sentence in ("it speaks", "a sound", "no sheet", "Not measured in this run: speech at"):
        assert sentence in text
    assert list(tmp_path.iterdir()) == [page]


def test_a_page_says_what_a_system_cannot_do(tmp_path):
    systems = (
        System("mute", "mute", 1.0, "", "", ""),
        System("rated", "", 1.0, "", "", "", "live"),
    )
    text = write_page(tmp_path, dict.fromkeys(systems, NOTHING), "").read_text(encoding="utf-8")
    assert f"| speaking rate, error | rates | no rate | {UNMEASURED} |" in text
    assert f"| ends by itself | sentences | {UNMEASURED} | {UNMEASURED} |" in text


def test_what_the_papers_claim_stands_beside_what_was_measured(tmp_path):
    systems = {next(s for s in SYSTEMS if s.name == "voxtream"): Results(traces=(TRACE,))}
    page = write_page(tmp_path, systems, "").read_text(encoding="utf-8")
    first = next(line for line in page.splitlines() if "sounds first" in line)
    assert first.endswith("| first packet at 200 ms a word | VoXtream 20 ms / 20 ms |")
    assert {row.name for row in FIGURES}.issuperset(claim["figure"] for claim in CLAIMS)
    names = {system.title for system in SYSTEMS}
    assert names.issuperset(name for claim in CLAIMS for name in claim["systems"])


def test_what_is_not_there_is_asked_for_nothing_and_a_system_without_a_rate_for_none(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(packs, "SHIPPED", "no such folder")
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path / "data"))
    by_name = {system.name: system for system in SYSTEMS}
    kokoro, llmvox = by_name["kokoro"], by_name["llmvox"]
    assert not any(map(is_here, (by_name["llmvox-published"], kokoro, llmvox)))
    monkeypatch.setattr("engine.tts.kokoro.voices.is_fetched", lambda: True)
    assert is_here(kokoro)
    write_pack(packs.folder_of("llmvox"))
    tasks = [task.name for task in parts_of(llmvox)]
    assert tasks == [
        "LLMVoX/sentences Ada", "LLMVoX/sentences Bruno", "LLMVoX/replies", "LLMVoX/delays",
    ]  # fmt: skip


def test_the_sentences_are_always_the_same_and_never_trained_on():
    texts = fixed_texts()
    assert texts == fixed_texts()
    assert len(texts[0]) == SIZE.sentences
    assert set(grammar.templates("test")).isdisjoint(grammar.templates("train"))


def test_names_are_known(tmp_path, capsys):
    names = [system.title for system in SYSTEMS]
    assert len(set(names)) == len(names)
    assert not any("," in name for name in names)  # `--only` is a list
    parts = {task.name.partition("/")[2].split()[0] for task in parts_of(BUILT_IN)}
    assert {row.part for row in FIGURES} == parts
    with pytest.raises(InvalidInput, match="No part begins with nobody"):
        compare(tmp_path, only=("nobody",))
    assert main(["voice"]) == 1
    assert "A recipe is missing." in capsys.readouterr().err


@pytest.mark.slow
def test_a_part_is_measured_once_and_kept(tmp_path, capsys):
    espeak = next(system for system in SYSTEMS if system.name == "espeak")
    kept = parts_of(espeak)
    delays = next(task for task in kept if task.name == "espeak/delays")
    compare(tmp_path, only=("espeak/delays",), workers=2, into=tmp_path / "page")
    assert "| words before the first sound | delays | not measured |" in capsys.readouterr().out
    assert len(read_results(kept, tmp_path).traces) == SIZE.timed
    before = delays.file(tmp_path).stat().st_mtime_ns
    compare(tmp_path, only=("espeak/delays",))
    assert delays.file(tmp_path).stat().st_mtime_ns == before
    assert (tmp_path / "page" / "comparison.md").is_file()
