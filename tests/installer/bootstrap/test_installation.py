"""An installation: whole and in force at its end, or as it was; and which version a start takes."""

import re
import shutil
import subprocess
import threading
from collections.abc import Callable
from itertools import product
from types import SimpleNamespace

import pytest

from installer.bootstrap import __main__ as bootstrapper
from installer.bootstrap import desktop, installation, paths, payload, removing, windows
from installer.bootstrap.installation import install
from installer.bootstrap.paths import Home
from installer.bootstrap.payload import Payload, Variant
from installer.commands import SetupError


def told(home: Home, name: str, *words: str) -> str:
    command = [str(home.python(name)), str(home.env(name) / payload.BOOTSTRAPPER), "start", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.strip()


def in_force(home: Home) -> str:
    return home.versions()[0]


def test_an_installation_ends_with_a_program_that_starts_and_a_second_does_nothing(
    home, release, capsys
):
    name = install(home, release("1.0"))
    said = capsys.readouterr().out
    parts = [int(part) for part in re.findall(r"^ *(\d+)%  ", said, re.MULTILINE)]
    assert parts == sorted(parts)
    assert 0 < parts[-1] <= 100
    assert "Getting torch (200 MB)\n    Downloaded torch" in said
    assert name == in_force(home) == "env-1.0-cpu"
    assert told(home, name, "say", "hello") == "rubato 1.0 say hello"
    notes = [each.read_text() for each in home.env(name).rglob("*.txt.installed")]
    assert notes
    assert all("--require-hashes" in said and "--no-deps" in said for said in notes)
    assert install(home, release("1.0")) == name
    assert capsys.readouterr().out == ""


def test_without_a_network_all_comes_from_the_folder_that_was_named(home, release, tmp_path):
    name = install(home, release("1.0"), wheels=tmp_path)
    for notes in home.env(name).rglob("*.installed"):
        assert "--no-index --offline --find-links " + str(tmp_path) in notes.read_text()


FAULTS = {
    "No space left on device (os error 28)": "disk is full",
    "error sending request for url": "the downloads are kept",
    "Hash mismatch for numpy": "does not match its pinned hash",
}


def test_what_goes_wrong_is_said_and_changes_nothing(home, release, monkeypatch):
    old = install(home, release("1.0"))
    fault = home.folder / "fault"
    monkeypatch.setenv("FAULT_FILE", str(fault))
    for part, words in product(("run.txt", "torch", ".whl"), FAULTS):
        fault.write_text(f"{part} {words}\n")
        with pytest.raises(SetupError, match=FAULTS[words]):
            install(home, release("2.0"))
        assert in_force(home) == old
        assert home.environments() == [old]
        assert told(home, old, "x") == "rubato 1.0 x"
    assert install(home, release("2.0")) == in_force(home)  # the fault is over


def test_a_new_version_that_does_not_work_is_never_put_in_force(home, release):
    old = install(home, release("1.0"))
    bad = release("2.0")
    check = bad.folder / f"{bad.wheel.name}.d" / "app" / "installed.py"
    check.write_text("raise SystemExit('The spoken sentence cannot be heard.')\n")
    bad = payload.write_list(bad.folder, "2.0")
    with pytest.raises(SetupError, match=r"is not used: .* cannot be heard"):
        install(home, bad)
    assert in_force(home) == old


def test_a_release_that_was_cut_off_or_lists_nothing_sensible_is_not_begun(home, release, tmp_path):
    cut = release("1.0")
    cut.packages.write_text("")
    with pytest.raises(SetupError, match=r"pins/run\.txt of the archive was damaged"):
        install(home, cut)
    cut.packages.unlink()
    with pytest.raises(SetupError, match=r"pins/run\.txt of the archive is missing"):
        install(home, cut)
    assert home.environments() == []
    outside = ('{"version": "../x", "files": {}}', '{"version": "1", "files": {"../../x": "aa"}}')
    for listed in ("", "[]", '{"version": "1.0"}', *outside):
        (tmp_path / payload.LIST).write_text(listed)
        with pytest.raises(SetupError, match="release"):
            payload.read(tmp_path)


def test_both_builds_of_torch_live_beside_each_other_or_the_missing_one_is_named(home, release):
    given = release("1.0")
    assert install(home, given, Variant.CPU) == "env-1.0-cpu"
    (given.folder / "pins" / "torch-linux-cpu.txt").unlink()
    without = payload.write_list(given.folder, "1.0")
    assert install(home, without, Variant.CUDA) == "env-1.0-cuda"
    assert home.environments() == ["env-1.0-cpu", "env-1.0-cuda"]
    assert in_force(home) == "env-1.0-cuda"
    home.remove("env-1.0-cpu")
    with pytest.raises(SetupError, match=r"no pinned torch for cpu here \(torch-linux-cpu.txt\)"):
        install(home, without, Variant.CPU)


def test_a_full_disk_or_a_home_that_is_no_folder_is_seen_first(home, release, monkeypatch):
    with monkeypatch.context() as full:
        full.setattr(paths.shutil, "disk_usage", lambda _: SimpleNamespace(free=10**9))
        with pytest.raises(SetupError, match=r"has 1.0 GB free; 3.0 GB are needed"):
            install(home, release("1.0"))
    shutil.rmtree(home.folder, ignore_errors=True)
    home.folder.write_text("a file")
    with pytest.raises(SetupError, match="Set RUBATO_PROGRAM to a folder"):
        install(home, release("1.0"))


def test_two_at_once_make_one_environment(home, release, capsys):
    given, names = release("1.0"), []

    def one() -> None:
        names.append(install(home, given))

    both = [threading.Thread(target=one) for _ in range(2)]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert names == ["env-1.0-cpu"] * 2
    assert capsys.readouterr().out.count("Making the environment") == 1


def test_an_interruption_ends_it_and_keeps_the_current_version(home, release, monkeypatch):
    def interrupt(maker: installation.Maker, pins: object) -> None:
        raise KeyboardInterrupt

    old = install(home, release("1.0"))
    monkeypatch.setattr(installation.Maker, "get_torch", interrupt)
    with pytest.raises(KeyboardInterrupt):
        install(home, release("2.0"))
    assert in_force(home) == old
    assert home.environments() == [old]


def test_a_broken_environment_is_made_again_and_one_earlier_one_is_kept(home, release):
    first = install(home, release("1.0"))
    home.python(first).unlink()  # as when the system's Python went with an upgrade
    again = install(home, payload.read(home.payloads / "1.0"))
    assert again == in_force(home) == first + ".2"
    assert told(home, again, "x") == "rubato 1.0 x"
    assert installation.version_of(again) == "1.0"
    for version in ("2.0", "3.0"):
        install(home, release(version))
    assert home.environments() == ["env-2.0-cpu", "env-3.0-cpu"]
    assert sorted(each.name for each in home.payloads.iterdir()) == ["2.0", "3.0"]


Release = Callable[[str], Payload]


def start(home: Home, *words: str) -> tuple[int, str]:
    """Start as the menu does: through the launcher; its status and what the program said."""
    done = subprocess.run([str(desktop.launcher(home)), *words], capture_output=True)
    return done.returncode, done.stdout.decode().strip()


@pytest.fixture
def updated(home: Home, release: Release) -> Home:
    """1.0 was replaced by 2.0, which was not started yet."""
    install(home, release("1.0"))
    desktop.put(home, install(home, release("2.0")))
    return home


def test_the_launcher_starts_the_current_version(updated):
    before = updated.current_file.stat().st_mtime_ns
    assert start(updated, "say", "x") == (0, "rubato 2.0 say x")
    assert start(updated, "--start-hidden") == (0, "rubato 2.0 --start-hidden")
    assert start(updated, "--broken")[0] == 1
    assert updated.current_file.stat().st_mtime_ns == before


def test_the_previous_version_stays_until_the_next_update_and_comes_back_on_request(
    updated, release
):
    for _ in range(3):
        assert start(updated) == (0, "rubato 2.0")
    assert updated.environments() == ["env-1.0-cpu", "env-2.0-cpu"]
    updated.roll_back()
    assert start(updated) == (0, "rubato 1.0")
    with pytest.raises(SetupError, match="no earlier version"):
        updated.roll_back()
    install(updated, release("3.0"))
    assert updated.environments() == ["env-1.0-cpu", "env-3.0-cpu"]


def test_a_lost_version_is_installed_again_by_a_start_but_not_by_a_command(
    updated, monkeypatch, capsys
):
    updated.python("env-2.0-cpu").unlink()
    started: list[list[str]] = []
    notes: list[str] = []
    monkeypatch.setattr(bootstrapper, "_become", lambda command: started.append(command) or 0)
    monkeypatch.setattr(windows, "notify", notes.append)
    assert bootstrapper.main(["say", "x"]) == 1
    assert "Start it once without a command" in capsys.readouterr().err
    assert started == []
    assert bootstrapper.main(["--start-hidden"]) == 0
    python = str(updated.python("env-2.0-cpu.2"))
    assert started == [[python, "-P", "-m", "app", "--start-hidden"]]
    assert notes == [bootstrapper.INSTALLING]  # there is no terminal


def test_half_an_environment_is_never_put_in_force(home):
    home.python("env-9").parent.mkdir(parents=True)
    home.python("env-9").touch()
    with pytest.raises(SetupError, match="not complete"):
        home.switch("env-9")
    assert not home.current_file.exists()


def test_a_pointer_that_was_tampered_with_names_nothing_outside(home):
    home.folder.mkdir()
    half = "env-1.0-cpu\nprevious\n"
    for text in ("", "\n", "../../bin\n", "env-1/../..\n", "\0\n", half):
        home.current_file.write_text(text)
        assert home.versions() == ("env-1.0-cpu" if text == half else "", "")


@pytest.mark.parametrize("own_files", [False, True])
def test_uninstalling_leaves_only_what_the_person_made(updated, own_files):
    person = updated.folder.parent
    voice = person / ".local" / "share" / "rubato" / "voices" / "mine.voice"
    settings = person / ".config" / "rubato" / "settings.toml"
    at_login = person / ".config" / "autostart" / "org.rubato.Rubato.desktop"
    stranger = person / ".config" / "autostart" / "other.desktop"
    for path in (voice, settings, at_login, stranger):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert removing.uninstall(updated, own_files=own_files, env={}) == []
    left = {path for path in person.rglob("*") if path.is_file() or path.is_symlink()}
    assert left == {stranger} if own_files else {stranger, voice, settings}
