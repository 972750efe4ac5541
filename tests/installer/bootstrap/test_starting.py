"""Which version a start takes: the new one, or the one before it when that comes to nothing."""

import subprocess
from collections.abc import Callable

import pytest

from installer.bootstrap import current_version, desktop, removing, starting
from installer.bootstrap.installation import install
from installer.bootstrap.paths import Home
from installer.bootstrap.payload import Payload
from installer.commands import SetupError

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


def test_the_launcher_starts_what_the_pointer_names(updated):
    for _ in range(3):
        assert start(updated, "say", "x") == (0, "rubato 2.0 say x")
    assert current_version.read(updated).begun == 0  # commands are no starts
    assert current_version.starts(updated, "env-2.0-cpu") == 0
    assert start(updated) == (0, "rubato 2.0")
    before = updated.current_file.stat().st_mtime_ns
    start(updated)  # of a version that came up writes nothing
    assert updated.current_file.stat().st_mtime_ns == before
    current_version.roll_back(updated)
    assert start(updated, "--start-hidden") == (0, "rubato 1.0 --start-hidden")


def test_the_earlier_version_goes_only_after_two_starts(updated):
    for _ in range(2):
        assert start(updated)[0] == 0
        assert updated.environments() == ["env-1.0-cpu", "env-2.0-cpu"]
    start(updated)
    assert updated.environments() == ["env-2.0-cpu"]
    with pytest.raises(SetupError, match="no earlier version"):
        current_version.roll_back(updated)


def test_a_version_that_does_not_come_up_gives_way_after_two_starts(updated):
    assert start(updated, "--broken")[0] == 1
    assert start(updated, "--broken")[0] == 1
    assert start(updated) == (0, "rubato 1.0")
    assert current_version.read(updated).current == "env-1.0-cpu"


def test_handing_over_to_the_running_one_is_no_failure_and_a_lost_folder_gives_way_at_once(updated):
    for _ in range(3):
        current_version.begin(updated)
        current_version.ended_well(updated)
    assert starting.environment_to_start(updated) == ("env-2.0-cpu", "")
    updated.python("env-2.0-cpu").unlink()
    name, sentence = starting.environment_to_start(updated)
    assert name == "env-1.0-cpu"
    assert sentence == "env-2.0-cpu did not start; this is env-1.0-cpu again."


def test_half_an_environment_is_never_put_in_force(home):
    home.python("env-9").parent.mkdir(parents=True)
    home.python("env-9").touch()
    with pytest.raises(SetupError, match="not complete"):
        current_version.switch(home, "env-9")
    assert not home.current_file.exists()
    with pytest.raises(SetupError, match="not installed"):
        starting.environment_to_start(home)


def test_a_pointer_that_was_tampered_with_names_nothing_outside(home):
    home.folder.mkdir()
    half = "env-1.0-cpu\nbegun x\nprevious\n"
    for text in ("", "\n", "../../bin\n", "env-1/../..\n", "\0\n", half):
        home.current_file.write_text(text)
        found = current_version.read(home)
        assert found.current == ("env-1.0-cpu" if text == half else "")
        assert (found.previous, found.begun) == ("", 0)


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
