"""The page of all systems: what was measured, what was not, and how each cell is made again."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from engine.errors import InvalidInput
from engine.training.__main__ import main
from engine.training.comparison.compare import _missing, compare
from engine.training.comparison.delays import Frame, Trace
from engine.training.comparison.measure import SIZE, Figures, Measurement, fixed_texts
from engine.training.comparison.page import (
    CLAIMS,
    Column,
    column,
    read_columns,
    rows,
    write_columns,
    write_page,
)
from engine.training.comparison.plot import Line, plot
from engine.training.comparison.systems import SHIPPED, SYSTEMS, System
from engine.training.corpus import grammar
from engine.training.judge.figures import UNMEASURED, Results

TRACE = Trace(2, (Frame(1, 0.02, 0.08), Frame(2, 0.01, 0.08)), (0.01, 0.15))


def test_a_page_says_what_was_not_measured(tmp_path: Path) -> None:
    system = System("ghost", headline="it speaks", expected="a sound", command="make ghost")
    columns = {system: column(Figures(Results(), (TRACE,)), "", "today")}
    page = write_page(tmp_path, columns, "Here.").read_text()
    assert "| measured last |  | today |" in page
    assert f"| words wrong, Whisper, all | sentences | {UNMEASURED} |" in page
    assert "| first packet at 500 ms a word | delays | 20 ms / 20 ms |" in page
    assert "core hours of training, networks" in page
    for sentence in ("it speaks", "a sound", "make ghost", "Here."):
        assert sentence in page
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "comparison-delay.svg", "comparison-rate.svg", "comparison.md",
    ]  # fmt: skip


def test_a_page_says_what_a_system_cannot_do(tmp_path: Path) -> None:
    systems = {each: Column("") for each in (System("mute", rate=""), System("rated"))}
    page = write_page(tmp_path, systems, "").read_text()
    assert f"| speaking rate, error | rates | no rate | {UNMEASURED} |" in page
    assert "| clones, equal error rate | cloning | no clones | no clones |" in page


def test_what_the_papers_claim_stands_beside_what_was_measured(tmp_path: Path) -> None:
    cells = {"first packet at 200 ms a word": "5"}
    systems = {System("SpeakStream"): Column("", "now", cells)}
    page = write_page(tmp_path, systems, "").read_text()
    first = next(line for line in page.splitlines() if "sounds first" in line)
    assert f"VoXtream {UNMEASURED}<br>" in first
    assert "SpeakStream 5<br>" in first
    assert {row.name for row in rows()}.issuperset(claim.figure for claim in CLAIMS)
    names = {system.name for system in SYSTEMS}
    assert names.issuperset(name for claim in CLAIMS for name in claim.systems)


def test_times_of_different_machines_are_ratios_to_the_shipped_voice_on_the_same() -> None:
    slow = Trace(2, (Frame(1, 0.04, 0.08), Frame(2, 0.02, 0.08)), (0.01, 0.15))
    cells = column(Figures(Results(), (slow,), beside=(TRACE,)), "", "").cells
    place = "times the shipped voice's in the same run"
    assert cells[f"first packet at 0 ms a word, {place}"] == "2.00"
    assert cells[f"processor time per second, {place}"] == "2.00"


def test_a_cell_stays_until_it_is_measured_again_or_the_pack_is_another(tmp_path: Path) -> None:
    before = Column("a", "then", {"size": "1", "time": "2"}, {"Ada": "well"}, {"0": 5.0})
    assert Column("b", "now", {"size": "3"}).over(before) == Column("b", "now", {"size": "3"})
    both = Column("a", "now", {"size": "3"}, {"Bruno": "too"}).over(before)
    assert both.cells == {"size": "3", "time": "2"}
    assert both.details == {"Ada": "well", "Bruno": "too"}
    assert both.delays == {"0": 5.0}
    assert Column("b").over(before) == before  # nothing was measured of the other pack
    assert column(Figures(Results(rates={4.0: ()}), parameters=7), "", "now").measured == ""
    write_columns(tmp_path, {"one": both})
    assert read_columns(tmp_path) == {"one": both}


def test_every_row_names_the_part_that_measures_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.training.judge.cloning.available", lambda: True)
    monkeypatch.setattr("engine.training.teachers.synthesisers.missing", lambda names: [])
    shipped = next(system for system in SYSTEMS if system.pack == SHIPPED)
    parts = [
        task.name.partition("/")[2].split()[0] for task in Measurement(shipped, tmp_path).tasks
    ]
    assert {row.part for row in rows()} - {""} == set(parts)
    assert parts.count("cloning") == SIZE.clones + len(shipped.talkers())


def test_nobody_is_cloned_by_a_system_that_cannot(tmp_path: Path) -> None:
    assert not any("cloning" in task.name for task in _espeak(tmp_path).tasks)


def test_the_sentences_are_always_the_same_and_never_trained_on() -> None:
    texts = fixed_texts()
    assert texts == fixed_texts()
    assert len(texts.sentences) == SIZE.sentences
    assert set(grammar.templates("test")).isdisjoint(grammar.templates("train"))


def test_systems_have_names_of_their_own_and_say_what_makes_their_pack() -> None:
    names = [system.name for system in SYSTEMS]
    assert len(set(names)) == len(names)
    assert not any("," in name for name in names)  # `--only` is a list
    assert all(
        each.command for each in SYSTEMS if each.name not in {"espeak", "VoXtream2 (shipped)"}
    )


def test_of_a_voice_that_is_fetched_some_voices_speak_once_it_is_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kokoro = next(system for system in SYSTEMS if system.name == "Kokoro")
    for here in (True, False):
        monkeypatch.setattr("engine.training.comparison.systems.is_fetched", lambda here=here: here)
        assert kokoro.present is here
    monkeypatch.setattr("engine.tts.kokoro.place.is_fetched", lambda: True)
    assert len(kokoro.talkers()) == kokoro.voices
    assert {talker.source for talker in kokoro.talkers()} == {"kokoro"}


def test_the_published_llmvox_is_a_system_of_its_own_that_was_not_heard_here(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (published,) = (system for system in SYSTEMS if "published" in system.name)
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    assert not published.present
    assert "LLMVoX, published weights: loads, not heard here." in _missing(())
    assert "published" not in _missing((published,))
    shown = (Path(__file__).parents[4] / "resources" / "comparison.md").read_text(encoding="utf-8")
    assert published.unheard in shown


def test_a_plot_is_an_image_of_every_line() -> None:
    lines = [Line("a & b", [(0, 1), (1, 3)]), Line("none", [])]
    svg = plot("Title", "x", "y", lines)
    root = ElementTree.fromstring(svg)
    names = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "a & b" in names
    assert "none" not in names
    assert svg == plot("Title", "x", "y", lines)


@pytest.mark.parametrize(
    ("highest", "scale"),
    [(1270.0, [str(step) for step in range(0, 1401, 200)]), (5.0, list("012345"))],
)
def test_the_scale_of_a_plot_has_round_numbers(highest: float, scale: list[str]) -> None:
    root = ElementTree.fromstring(plot("T", "x", "y", [Line("a", [(-9, 0), (-7, highest)])]))
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[3:-3] == scale  # before: the title and the points; behind: the axes, the name


@pytest.mark.slow
def test_one_part_of_one_system_is_measured_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    size = {"resident memory": "1 MB"}
    kept = {name: Column("gone", "then", size) for name in ("VoXtream", "VoXtream2 (shipped)")}
    write_columns(tmp_path / "page", kept)
    compare(tmp_path / "kept", only=("espeak/delays",), quick=True, into=tmp_path / "page")
    assert (
        "| words before the first sound | delays | 1 / 1 | not measured |"
        in capsys.readouterr().out
    )
    assert len(_espeak(tmp_path / "kept").figures().traces) > 0
    page = (tmp_path / "page" / "comparison.md").read_text()
    assert "| resident memory | memory | not measured | 1 MB | 1 MB |" in page
    assert read_columns(tmp_path / "page")["espeak"].measured.endswith("--quick")
    compare(tmp_path / "kept", only=("espeak/delays",), quick=True, into=tmp_path / "fresh")
    assert list(read_columns(tmp_path / "fresh")) == ["espeak"]
    page = (tmp_path / "fresh" / "comparison.md").read_text()
    assert "Not measured yet: Kokoro, VoXtream2 (shipped), " in page


def test_a_part_that_nobody_has_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="No part begins with nobody"):
        compare(tmp_path, only=("nobody",))


def test_the_other_stages_ask_for_a_recipe(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["voice"]) == 1
    assert "Which recipe?" in capsys.readouterr().err


def _espeak(folder: Path) -> Measurement:
    return Measurement(next(system for system in SYSTEMS if system.name == "espeak"), folder)
