"""Uninstalling from folders that hold other files too, such as a whole disk."""

import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

from engine import settings_file
from engine.asr import pick as recogniser
from engine.assets.catalogue import catalogue
from engine.history import store
from engine.llm.local import trial
from engine.models import storage
from engine.serve import server
from engine.settings.systems import SYSTEMS
from engine.tts import packs, voices
from engine.tts import pick as synthesiser
from engine.tts.espeak.voices import DATA_PREFIX
from engine.tts.voxtream.files import paths
from engine.tts.voxtream.files import pick as profile
from installer.bootstrap import desktop, installation, removing
from installer.bootstrap.installation import install
from installer.bootstrap.paths import Home, default_folder

STRANGERS = (
    *("thesis.odt", "photos/cat.jpg", "env-mine/bin/python", "env-1.0/notes", "gone-fishing/trip"),
    *("payload/cargo.txt", "payload/2024/list", "payload/photos.new/x", "cache/pages.db"),
    *("python/script.py", "models/house.blend", "models/own/model.bin", "voices/choir.mp3"),
    *("voices/removed/solo.mp3", "recordings/birds.wav", "takes/one.wav", "notes/todo.txt"),
    *("wake/up.txt", "packs/rucksack", "training/plan.txt", "settings.ini", "timers.txt"),
    *("notes.json", "rubato.txt", "conversations.txt"),
)
OURS_OF_PERSON = (
    *("models/kokoro/pins.json", "models/.kokoro.lock", "packs/llmvox/config.json"),
    *("voices/abc.safetensors", "voices/removed/d.safetensors", "voices/notes.json"),
    *("takes/My voice.wav", "notes/rubato.log", "notes/rubato.log.1", "notes/last-crashes.txt"),
    *("conversations.sqlite", "conversations.sqlite-wal", "conversations.damaged-1.sqlite"),
    "screen-reader.lock",
    *(
        "timers.damaged-1.json",
        "settings.toml",
        "settings.kept-1.toml",
        ".settings.lock",
        ".rubato-ab.part",
    ),
)


def write(folder: Path, names: tuple[str, ...]) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def files_in(folder: Path) -> set[str]:
    found = (path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    return {path.relative_to(folder).as_posix() for path in found}


@pytest.mark.parametrize("own_files", [False, True])
def test_files_of_others_stay_in_the_folders_that_a_person_chose(home, release, *, own_files):
    env = {"RUBATO_CONFIG": str(home.folder), "RUBATO_DATA": str(home.folder)}
    write(home.folder, STRANGERS)
    install(home, release("1.0"))
    name = install(home, release("2.0"))
    desktop.put(home, name)
    uv_made = ("cache/wheels-v5/a", "cache/CACHEDIR.TAG", "python/cpython-3.12/a", "python/.lock")
    write(home.folder, OURS_OF_PERSON + uv_made)
    assert removing.uninstall(home, own_files=own_files, env=env) == []
    assert files_in(home.folder) == {*STRANGERS, *(() if own_files else OURS_OF_PERSON)}


def test_folders_with_nothing_else_go_and_a_stranger_s_link_is_not_followed(
    home, release, tmp_path
):
    name = install(home, release("1.0"))
    desktop.put(home, name)
    outside = tmp_path / "outside"
    write(outside, ("pins.json",))
    data, config = tmp_path / "data", tmp_path / "config"
    write(data, OURS_OF_PERSON[:-4])
    write(config, OURS_OF_PERSON[-4:])
    (data / "models" / "mimi").symlink_to(outside)
    env = {"RUBATO_CONFIG": str(config), "RUBATO_DATA": str(data)}
    assert removing.uninstall(home, own_files=True, env=env) == []
    assert not any(folder.exists() for folder in (home.folder, data, config))
    assert files_in(outside) == {"pins.json"}


def test_the_program_itself_removes_its_module_of_speech_dispatcher(home, release, tmp_path):
    name = install(home, release("1.0"))
    desktop.put(home, name)
    home.python(name).unlink()
    home.python(name).write_text(f'#!/bin/sh\necho "$@" >>"{tmp_path}/called"\n')
    home.python(name).chmod(0o755)
    env = {"XDG_DATA_HOME": str(tmp_path / "share"), "PATH": "/usr/bin:/bin"}
    desktop.leave_speech_dispatcher(home.python(name), env)
    assert not (tmp_path / "called").exists()
    write(tmp_path, ("libexec/speech-dispatcher-modules/sd_rubato",))
    assert removing.uninstall(home, own_files=False, env=env) == []
    assert (tmp_path / "called").read_text() == "-P -B -m app speech-dispatcher remove\n"


def test_an_update_tidies_only_what_an_installation_made(home, release):
    write(home.folder, STRANGERS)
    for version in ("1.0", "2.0", "3.0"):
        install(home, release(version))
    installation.tidy(home)
    assert home.environments() == ["env-2.0-cpu", "env-3.0-cpu"]
    assert {path.name for path in home.saved_payloads()} == {"2.0", "3.0"}
    assert set(STRANGERS) <= files_in(home.folder)


def test_a_launcher_of_somebody_else_stays(home: Home):
    write(home.folder, ("rubato", "current"))
    assert removing.uninstall(home, own_files=False, env={}) == []
    assert files_in(home.folder) == {"rubato", "current"}


def test_a_tilde_is_the_folder_of_the_person(home, monkeypatch):
    monkeypatch.setenv("RUBATO_PROGRAM", "~/x")
    assert default_folder() == Path.home() / "x"
    assert removing.own_folders({"RUBATO_DATA": "~/d"})[0] == Path.home() / "d"
    script = Path(removing.__file__).parents[1] / "rubato-setup.sh"
    text = script.read_text().partition("if ! mkdir")[0] + 'echo "$home"\n'
    for chosen, path in (("~/x", Path.home() / "x"), ("y", Path("/tmp/y")), ("/z", Path("/z"))):
        env = {"HOME": str(Path.home()), "PATH": "/usr/bin:/bin", "RUBATO_PROGRAM": chosen}
        done = subprocess.run(
            ["/bin/sh", "-c", text], env=env, cwd="/tmp", capture_output=True, text=True, check=True
        )
        assert Path(done.stdout.strip()) == path


def test_every_file_and_folder_of_a_person_is_known(tmp_path, monkeypatch):
    """The installer cannot ask the program, which may be gone already."""
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    modules = (recogniser, storage, synthesiser, profile)
    names = {
        trial.RECORD,
        server.TOKEN_FILE,
        f"{DATA_PREFIX}0123456789abcdef",
        store.NAME,
        synthesiser.SPEEDS_FILE,
        *(module.FILE for module in modules),
    }
    names |= {f"models/{name}" for name in (*catalogue(), paths.NAME)}
    names |= {packs.folder_of(each.name).relative_to(tmp_path).as_posix() for each in SYSTEMS}
    names |= {(voices.folder() / f"x{voices.SUFFIX}").relative_to(tmp_path).as_posix()}
    for name in names:
        assert any(fnmatch(name, pattern) for pattern in removing.DATA), name
    assert settings_file.NAME in removing.CONFIG
