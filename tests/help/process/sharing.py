"""How processes share the tests: a file stays in one, and so do all that need the sound card, whose
tests mostly wait while another process computes. They begin, the slow files follow, and the many
quick ones fill what is left.

xdist's own groups are no help: pytest 9.2 keeps the name of a test where xdist 3.8 does not look
for it, and then every test is a group of its own, with its file's fixtures made in each process.
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
    """Gives out files whole, some with others, in the order of collection."""

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
