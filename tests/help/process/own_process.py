"""A process for each test marked `own_process`, so that damage to PortAudio stays in it.

A sound card that disappears at the wrong moment can make PortAudio hang (engine/audio/devices/
time_limit.py): no later test of that process could open a device. Such a process reports this, and
its test is tried again in a fresh process, because the fault is PortAudio's and not ours; a hang in
all of TRIES is a failure. The reports are passed on unchanged: passed, skipped or failed, and why.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest

REPORTS: Final = "RUBATO_TEST_REPORTS"  # in such a process: the file that its reports go to
TRIES: Final = 3
LIMIT_S: Final = 90  # of a try; all of them stay below the limit of a test
HUNG: Final = 77  # exit code of a process that PortAudio never returned to

_started: dict[str, Future[tuple[subprocess.CompletedProcess[str], list[str]]]] = {}
_pool = ThreadPoolExecutor(2)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a marked test in its own process and report the result here. The next test's process
    starts at the same time, because it spends most of its time on imports and waiting.
    """
    if not _runs_elsewhere(item):
        return None
    for each in (item, nextitem):
        if each and _runs_elsewhere(each) and each.nodeid not in _started:
            _started[each.nodeid] = _pool.submit(_run, each)
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _reports(item):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    # What the test before left up for this one, which never used it.
    item.session._setupstate.teardown_exact(nextitem)
    return True


def _runs_elsewhere(item: pytest.Item) -> bool:
    return REPORTS not in os.environ and item.get_closest_marker("own_process") is not None


def _run(item: pytest.Item) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run a test in its own process. Return how that ended, and the reports it wrote."""
    command = [sys.executable, "-m", "pytest", "-m", "", "-o", f"timeout={LIMIT_S}"]
    name = item.nodeid.partition("::")[2]
    command += [f"--rootdir={item.config.rootpath}", f"{item.path}::{name}"]
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory(prefix="own-process-") as folder:
            file = Path(folder) / "reports"
            ended = subprocess.run(
                command,
                env={**os.environ, REPORTS: str(file)},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
            lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        if ended.returncode != HUNG:
            break
    return ended, lines


def _reports(item: pytest.Item) -> Iterator[pytest.TestReport]:
    ended, lines = _started.pop(item.nodeid).result()
    reports = [_read(item.config, line) for line in lines]
    for report in reports:
        report.nodeid = item.nodeid
    yield from reports
    if ended.returncode and not any(report.failed for report in reports):
        why = f"its process ended with {ended.returncode}\n{ended.stdout}\n{ended.stderr}"
        yield _failure(item, why)


def _read(config: pytest.Config, line: str) -> pytest.TestReport:
    data = json.loads(line)
    report = config.hook.pytest_report_from_serializable(config=config, data=data)
    assert isinstance(report, pytest.TestReport)
    if isinstance(report.longrepr, list):  # why it was skipped: JSON knows no tuples
        file, number, reason = report.longrepr
        report.longrepr = (file, number, reason)
    return report


def _failure(item: pytest.Item, why: str) -> pytest.TestReport:
    keywords = dict.fromkeys(item.keywords, 1)
    return pytest.TestReport(item.nodeid, item.location, keywords, "failed", why, "call")


class _Child:
    """The plugin in such a process: it writes the test's reports, and sets the exit code."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        with Path(os.environ[REPORTS]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(data) + "\n")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        limits = sys.modules.get("engine.audio.devices.time_limit")
        if limits and limits.any_left_behind():
            session.exitstatus = HUNG


def pytest_configure(config: pytest.Config) -> None:
    """Register the child's plugin if REPORTS says that this is such a process."""
    if REPORTS in os.environ:
        config.pluginmanager.register(_Child(config))
