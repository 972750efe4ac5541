"""An installed release updates itself, with real packages and real keys."""

import tempfile
from pathlib import Path

import pytest

from installer.release import try_update


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_an_installed_release_is_updated_rolled_back_and_updated_again() -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest would keep its gigabytes for three runs
        assert try_update.main([str(Path(folder, "trial"))]) == 0
