"""The first lines a person meets: the right Python, what the system must provide, failures."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from installer import setup, system
from installer.commands import Cause, SetupError, cause_of, ends_well, run, succeeds
from installer.plan import ROOT, Goal
from installer.system import Need, needs_of, provide

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux's package managers")


class FakeMachine:
    """A machine where some programs exist and apt installs what it is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, programs: Sequence[str], *, root: bool):
        self.programs = set(programs)
        self.installed: list[str] = []
        self.commands: list[str] = []
        self.fails: dict[str, Cause] = {}
        monkeypatch.setattr(system.shutil, "which", lambda name: name in self.programs or None)
        monkeypatch.setattr(system.os, "geteuid", lambda: 0 if root else 1000)
        monkeypatch.setattr(system, "succeeds", lambda command: "sudo" in self.programs)
        monkeypatch.setattr(system, "run", self.run)

    def run(self, command: Sequence[str], *, doing: str) -> None:
        self.commands.append(" ".join(command))
        for word, cause in self.fails.items():
            if word in command:
                raise SetupError(doing, cause)
        if "install" in command:
            self.installed += command[command.index("--no-install-recommends") + 1 :]

    def has(self, need: Need) -> bool:
        return need.apt in self.installed or need.apt not in ("xvfb", "libegl1")


@linux
def test_what_is_missing_is_installed_and_nothing_else(monkeypatch):
    machine = FakeMachine(monkeypatch, ["apt-get"], root=True)
    provide(Goal.TEST, is_there=lambda need: True)
    assert machine.commands == []
    machine.fails["update"] = Cause.NETWORK  # stale lists do not stop it
    provide(Goal.TEST, is_there=machine.has)
    assert machine.installed == ["libegl1", "xvfb"]
    machine.installed.clear()
    machine.fails["update"] = Cause.DISK  # this does
    with pytest.raises(SetupError):
        provide(Goal.RUN, is_there=machine.has)


@linux
def test_sudo_is_used_when_it_asks_nothing_and_what_is_still_not_found_reported(monkeypatch):
    machine = FakeMachine(monkeypatch, ["apt-get", "sudo"], root=False)
    provide(Goal.RUN, is_there=machine.has)
    assert all(command.startswith("sudo -n env ") for command in machine.commands)
    with pytest.raises(SetupError, match="libegl1"):
        provide(Goal.RUN, is_there=lambda need: need.apt != "libegl1")


@linux
@pytest.mark.parametrize(
    ("manager", "line"),
    [
        ("apt-get", "sudo apt-get install libegl1"),
        ("dnf", "sudo dnf install libglvnd-egl"),
        ("pacman", "sudo pacman -S --needed libglvnd"),
    ],
)
def test_who_is_not_root_is_told_the_command_for_the_goal(manager, line, monkeypatch):
    machine = FakeMachine(monkeypatch, [manager], root=False)
    with pytest.raises(SetupError) as caught:
        provide(Goal.RUN, is_there=machine.has)
    assert f"\n  {line}\n" in str(caught.value)
    assert machine.commands == []
    provide(Goal.DEMO, is_there=lambda need: need.apt != "flite")
    with pytest.raises(SetupError, match="flite"):
        provide(Goal.TEST, is_there=lambda need: need.apt != "flite")


@linux
def test_a_probe_tells_what_is_there():
    absent = ("import there_is_no_such_module", "/usr/*/no-such-file|/no-such-file")
    absent += ("there-is-no-such-program", "libthere-is-no-such-thing.so.9")
    for probe in (*absent, "import json", "libc.so.6"):
        assert system.is_there(Need(probe, "", "", "")) is (probe not in absent)


def test_the_window_is_needed_for_every_goal_and_the_compiler_only_where_it_compiles():
    packages = {goal: {need.apt for need in needs_of(goal)} for goal in Goal}
    assert all("libxcb-cursor0" in names for names in packages.values())
    assert [goal for goal in Goal if "build-essential" in packages[goal]] == [Goal.LLM, Goal.TEST]


CAUSES = {
    "error: Request failed after 3 retries\n  dns error: failed to lookup": Cause.NETWORK,
    "Temporary failure in name resolution": Cause.NETWORK,
    "failed to write to file: No space left on device (os error 28)": Cause.DISK,
    "Failed to fetch: x\n  No space left on device": Cause.DISK,
    "CMake Error: CMAKE_CXX_COMPILER not set, after EnableLanguage": Cause.COMPILER,
    "Hash mismatch for `numpy==2.4.6`": Cause.HASH,
    "No solution found when resolving dependencies": Cause.PLATFORM,
    "Segmentation fault": Cause.UNKNOWN,
}


def test_the_cause_is_read_from_the_words_of_the_program():
    assert {output: cause_of(output) for output in CAUSES} == CAUSES


def test_output_is_shown_without_the_list_of_packages_and_a_failure_with_what_to_do(capsys):
    script = "print('Downloading torch (180MiB)'); print(' + torch==2.13.0')"
    run([sys.executable, "-c", script], doing="Installing")
    assert capsys.readouterr().out == "    Downloading torch (180MiB)\n"
    script = "print('dns error'); raise SystemExit(1)"
    with pytest.raises(SetupError, match=r"Fetching failed.*Check the network") as caught:
        run([sys.executable, "-c", script], doing="Fetching")
    assert caught.value.cause is Cause.NETWORK
    with pytest.raises(SetupError, match="no-such-program"):
        run(["no-such-program"], doing="Trying")


def test_success_is_told_without_output_or_with_the_program_s_own(capfd, monkeypatch):
    assert succeeds([sys.executable, "-c", "print('quiet')"])
    assert capfd.readouterr().out == ""
    assert ends_well([sys.executable, "-c", ""])
    for fails in ([sys.executable, "-c", "raise SystemExit(3)"], ["/nowhere/rubato"]):
        assert not succeeds(fails)
        assert not ends_well(fails)

    def interrupted(command: list[str], **options: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("installer.commands.subprocess.call", interrupted)
    assert not ends_well(["rubato"])  # Ctrl+C ends that program and no more


@pytest.mark.parametrize("version", [(3, 9, 2), (3, 10, 0), (3, 14, 1)])
def test_an_unfit_python_hands_over_or_says_which_to_install(version, monkeypatch, capsys):
    started: list[list[str]] = []  # what would have replaced the process
    monkeypatch.setattr(setup, "start", lambda command: started.append(command) or 0)
    monkeypatch.setattr(setup.sys, "version_info", version)
    monkeypatch.setattr(setup.shutil, "which", lambda name: f"/x/{name}")
    # 3.13 is there but does not run, as under a version manager
    monkeypatch.setattr(setup.subprocess, "call", lambda command, **_: "3.13" in command[0])
    assert setup.main(["run"]) == 0
    assert started == [["/x/python3.12", setup.HERE, "run"]]
    monkeypatch.setattr(setup.shutil, "which", lambda name: None)
    assert setup.main(["run"]) == 1
    assert "Rubato needs Python 3.11, 3.12 or 3.13; this is Python 3" in capsys.readouterr().out


def test_an_unknown_goal_is_answered_with_the_known_ones():
    command = [sys.executable, str(ROOT / "installer" / "setup.py"), "fly"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path("/"))
    assert done.returncode == 2
    assert "run | demo | llm | test" in done.stdout
