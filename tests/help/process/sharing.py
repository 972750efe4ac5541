"""Distribution of the tests over processes: a file stays in one process, and so do all files that
need the sound card, because these mostly wait while another process computes. They begin; the slow
files follow, then the many quick ones.

xdist's own groups cannot be used: pytest 9.2 stores the name of a test where xdist 3.8 does not
look for it, so every test would be a group of its own and make its file's fixtures again.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

# Folders whose files share what takes many seconds to make.
_TOGETHER = ("tests/engine/training/", "tests/engine/asr/", "tests/engine/tts/kokoro/")
_NEEDS_CARD = re.compile(r"\bmark\.(device|own_process)\b")
_SLOW = re.compile(r"\bmark\.slow\b")


class ByFile(LoadScopeScheduling):  # type: ignore[misc]
    """Distributes complete files, some of them together, in the order of collection."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        if needs_card(self.config.rootpath / file):
            return "card"
        return next((folder for folder in _TOGETHER if file.startswith(folder)), file)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    config.option.loadscopereorder = False
    return ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: 0 if needs_card(item.path) else 1 if is_slow(item.path) else 2)


@cache
def needs_card(file: Path) -> bool:
    return bool(_NEEDS_CARD.search(file.read_text(encoding="utf-8")))


@cache
def is_slow(file: Path) -> bool:
    return bool(_SLOW.search(file.read_text(encoding="utf-8")))
