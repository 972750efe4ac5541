"""A data folder of the test's own."""

import pytest


@pytest.fixture(autouse=True)
def own_data(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Store voices and recordings of the tests' engines in a temporary folder."""
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path_factory.mktemp("data")))
