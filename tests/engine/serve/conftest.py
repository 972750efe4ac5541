"""What needs the extra 'serve' is tested where that is installed. Tests that are coroutines run on
one loop a file.
"""

import asyncio
import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from engine.errors import ModelError
from engine.serve.server import check_installed

SOON_S = 120.0  # a loaded machine is slow; a passing test hardly waits

try:
    check_installed()
except ModelError:
    collect_ignore_glob = ["test_*.py", "*/test_*.py", "*/*/test_*.py"]
else:
    from tests.engine.serve.served import parts, question, served  # noqa: F401 - fixtures


@pytest.fixture(scope="module", autouse=True)
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> bool | None:
    """Run a coroutine; None leaves other tests to pytest."""
    test, given = pyfuncitem.obj, pyfuncitem.funcargs
    if not inspect.iscoroutinefunction(test):
        return None
    names = inspect.signature(test).parameters
    story = test(**{name: given[name] for name in names})
    given["runner"].run(asyncio.wait_for(story, SOON_S))
    return True
