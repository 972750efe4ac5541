"""A data folder of the test's own."""

import pytest


@pytest.fixture(autouse=True)
def own_data(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Voices and recordings of these engines lie where nobody keeps theirs."""
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path_factory.mktemp("data")))
