"""The module of one person: installed, listed if modules are listed, removed without a trace."""

from pathlib import Path

import pytest

from engine.errors import InvalidInput, SettingsError
from engine.serve.doors.speech_dispatcher import installation as file
from engine.serve.doors.speech_dispatcher.installation import Installation

COMMAND = ["/opt/my programs/rubato", "speech-dispatcher", "module"]
LISTED = b'AddModule "espeak-ng" "sd_espeak-ng" "espeak-ng.conf"'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(file.shutil, "which", lambda name: f"/usr/bin/{name}")
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "RUBATO_CONFIG", "RUBATO_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def contents(folder: Path) -> dict[str, bytes | str]:
    return {
        str(each.relative_to(folder)): each.read_bytes()
        if each.is_file()
        else str(each.stat().st_mode)
        for each in folder.rglob("*")
        if each.name not in ("share", ".local")  # where the data of all programs are
    }


@pytest.mark.parametrize(
    ("own", "system", "lists"),
    [
        (None, None, False),
        (None, b"LogLevel 3\n#AddModule not\n", False),
        (None, LISTED, True),
        (b"LogLevel 3\n", LISTED, False),
        (LISTED, None, True),
        (LISTED + b"\n# mine \xff\r\n", None, True),
        (b"  addmodule \"x\"\n", b"", True),
        (b"", LISTED, False),
    ],
)  # fmt: skip
def test_installing_lists_it_where_modules_are_listed_and_removing_restores_everything(
    home, tmp_path, own, system, lists
):
    config = home / ".config" / "speech-dispatcher" / "speechd.conf"
    home.mkdir()
    if own is not None:
        config.parent.mkdir(parents=True)
        config.write_bytes(own)
        config.chmod(0o640)
    everybody = tmp_path / "system.conf"
    if system is not None:
        everybody.write_bytes(system)
    before = contents(home)
    for _ in range(2):
        made = Installation(everybody)
        made.install(COMMAND)
        assert made.is_installed
        assert config.exists() == (own is not None or lists)
        text = config.read_bytes() if config.exists() else b""
        assert text.count(b'AddModule "rubato"') == int(lists)
        assert text.startswith(own or b"")
        assert (f'Include "{everybody}"'.encode() in text) == (lists and own is None)
    assert Installation(everybody).remove()
    assert not Installation(everybody).is_installed
    after = contents(home)
    after.pop(".config", None) if own is None else None
    assert after == before
    if own is not None:
        assert config.stat().st_mode & 0o777 == 0o640
    assert not Installation(everybody).remove()


def test_the_module_is_a_program_that_starts_the_command(home, monkeypatch):
    monkeypatch.setenv("RUBATO_DATA", "/my data")
    made = Installation(Path("/nowhere"))
    made.install(COMMAND)
    assert made.module == home / ".local/libexec/speech-dispatcher-modules/sd_rubato"
    lines = made.module.read_text().splitlines()
    assert lines[0] == "#!/bin/sh"
    assert lines[2:] == [
        "export RUBATO_DATA='/my data'",
        "exec '/opt/my programs/rubato' speech-dispatcher module",
    ]
    assert made.module.stat().st_mode & 0o777 == 0o755
    assert (home / ".local" / "share").is_dir()  # the daemon's path leads through it


def test_a_module_of_another_program_is_neither_replaced_nor_removed(home):
    made = Installation(Path("/nowhere"))
    made.module.parent.mkdir(parents=True)
    for foreign in (b"#!/bin/sh\nexec mine\n", b"\xff"):
        made.module.write_bytes(foreign)
        with pytest.raises(InvalidInput):
            made.install(COMMAND)
        assert not made.is_installed
        assert not made.remove()
        assert made.module.read_bytes() == foreign
    made.module.unlink()
    made.module.symlink_to("elsewhere")
    with pytest.raises(InvalidInput):
        made.install(COMMAND)
    assert made.module.is_symlink()


def test_the_daemon_follows_links_and_so_does_the_path_of_the_module(home, tmp_path):
    (home / ".local").mkdir(parents=True)
    (tmp_path / "disk" / "share").mkdir(parents=True)
    (home / ".local" / "share").symlink_to(tmp_path / "disk" / "share")
    made = Installation(Path("/nowhere"))
    made.install(COMMAND)
    assert made.module == tmp_path / "disk/libexec/speech-dispatcher-modules/sd_rubato"
    daemons = home / ".local/share/../libexec/speech-dispatcher-modules/sd_rubato"
    assert daemons.samefile(made.module)


def test_a_linked_configuration_stays_a_link(home, tmp_path):
    config = home / ".config" / "speech-dispatcher" / "speechd.conf"
    config.parent.mkdir(parents=True)
    (tmp_path / "dotfiles").write_bytes(LISTED)
    config.symlink_to(tmp_path / "dotfiles")
    made = Installation(Path("/nowhere"))
    made.install(COMMAND)
    assert b"rubato" in (tmp_path / "dotfiles").read_bytes()
    made.remove()
    assert config.is_symlink()
    assert config.read_bytes() == LISTED


def test_a_configuration_that_is_a_link_to_itself_is_left_alone(home):
    config = home / ".config" / "speech-dispatcher" / "speechd.conf"
    config.parent.mkdir(parents=True)
    config.symlink_to(config.name)
    Installation(home / "none").install(COMMAND)
    assert Installation(home / "none").remove()
    assert config.is_symlink()


def test_what_it_needs_is_said(home, monkeypatch):
    home.mkdir()
    (home / ".local").write_text("not a folder")
    with pytest.raises(SettingsError, match="cannot be written"):
        Installation(Path("/nowhere")).install(COMMAND)
    monkeypatch.setattr(file.shutil, "which", lambda name: None)
    with pytest.raises(InvalidInput, match="not installed"):
        Installation(Path("/nowhere")).install(COMMAND)
