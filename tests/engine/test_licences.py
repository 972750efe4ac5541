"""What the program is made of: every package of the environment, each with its terms."""

from importlib.metadata import Distribution

from engine import licences
from engine.models import storage
from tests.engine.models.small_catalogue import small_hub


def test_every_package_of_this_environment_is_there_with_terms_and_text_and_rubato_first():
    works = licences.works()
    first = works[0]
    assert (first.name, first.terms) == ("rubato", "GPL-3.0-or-later")
    assert licences.text_of(first).lstrip().startswith("GNU GENERAL PUBLIC LICENSE")
    by_name = {work.name.lower(): work for work in works}
    assert {"torch", "numpy", "moshi", "espeakng-loader", "rubato sans (font)"} <= set(by_name)
    assert [work.name for work in works if work.terms == "not stated"] == []
    assert "Redistribution" in licences.text_of(by_name["torch"])
    font = licences.text_of(by_name["rubato sans (font)"])
    assert "SIL OPEN FONT LICENSE" in font.upper()


def test_a_fetched_model_is_named_with_terms_and_authors(tmp_path, monkeypatch):
    with small_hub(tmp_path, monkeypatch):
        assert not any("kokoro" in work.name for work in licences.works())
        storage.fetch("kokoro", lambda file, done, total: None)
        models = [work for work in licences.works() if "kokoro" in work.name]
        assert [work.name for work in models] == ["kokoro (model)", "kokoro-voices (model)"]
        assert {work.terms for work in models} == {"Apache-2.0"}
        assert all("Kokoro by hexgrad" in licences.text_of(work) for work in models)


def test_terms_are_told_by_their_name(tmp_path):
    classified = "Classifier: License :: OSI Approved :: MIT License\n"
    for metadata, terms in (
        (f"License: {'word ' * 40}\n{classified}", "MIT License"),  # a whole licence is no name
        ("License: UNKNOWN\n", "not stated"),
    ):
        (tmp_path / "METADATA").write_text(f"Metadata-Version: 2.1\nName: x\n{metadata}")
        assert licences._terms(Distribution.at(tmp_path).metadata) == terms
