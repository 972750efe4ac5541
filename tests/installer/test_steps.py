"""The steps of setup, each done once, and their note: what was cut off is not trusted."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from engine.models.storage import with_needs
from installer import environment, steps
from installer.commands import Cause, SetupError
from installer.environment import NOTE, Environment, key_of, prepare, read
from installer.plan import CUDA_ON_WINDOWS, PINS, ROOT, Goal


class FakeUv:
    """Records what would be run; fails for commands that hold a given word."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.environments: list[Mapping[str, str]] = []
        self.fails: dict[str, Cause] = {}
        self.lacks: list[str] = []  # sources without a fitting torch

    def run(
        self, command: Sequence[str], *, env: Mapping[str, str] | None = None, doing: str
    ) -> None:
        self.commands.append(list(command))
        self.environments.append(env or {})
        for word, cause in self.fails.items():
            if word in command:
                raise SetupError(doing, cause)

    def succeeds(
        self, command: Sequence[str], *, env: Mapping[str, str], timeout_s: float = 30
    ) -> bool:
        return not any(word in command for word in self.lacks)

    def torch_sources(self) -> list[str]:
        """Of each try to install torch: its source, and the name of its pins."""
        marks = ("--no-index", "--torch-backend=cpu", "--torch-backend=auto")
        tries = [command for command in self.commands if "--reinstall-package" in command]
        sources = [next((mark for mark in marks if mark in command), "index") for command in tries]
        return [
            f"{source} {Path(command[-1]).stem}"
            for source, command in zip(sources, tries, strict=True)
        ]


@pytest.fixture
def uv(monkeypatch: pytest.MonkeyPatch) -> FakeUv:
    fake = FakeUv()
    monkeypatch.setattr(steps, "run", fake.run)
    monkeypatch.setattr(steps, "succeeds", fake.succeeds)
    monkeypatch.setattr(steps.system, "provide", lambda goal: None)
    monkeypatch.setattr(steps, "one_at_a_time", contextlib.nullcontext)
    monkeypatch.setattr(steps, "hardware", lambda: "CPU")
    monkeypatch.setattr(steps.sys, "platform", "linux")
    for name in ("UV_FIND_LINKS", "PIP_FIND_LINKS", "CMAKE_ARGS"):
        monkeypatch.delenv(name, raising=False)
    return fake


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    folder = tmp_path / ".venv"
    (folder / "bin").mkdir(parents=True)
    monkeypatch.setattr(steps.environment, "usable", lambda environment: True)
    return Environment(folder)


def done_steps(env: Environment, goal: Goal) -> list[str]:
    return list(steps.set_up(goal, env.folder).done)


def test_every_goal_does_its_steps_in_order_and_once(uv, env):
    assert done_steps(env, Goal.RUN) == ["uv", "run", "torch", "project"]
    steps.set_up(Goal.TEST, env.folder)
    uv.commands.clear()
    assert {"dev", "llm", *done_steps(env, Goal.RUN)} == set(done_steps(env, Goal.TEST))
    assert uv.commands == []


def test_the_test_goal_adds_tools_and_models_and_packages_come_only_by_hash(uv, env):
    assert done_steps(env, Goal.TEST) == ["uv", "run", "torch", "dev", "llm", "project"]
    installs = [command for command in uv.commands if "install" in command]
    assert len(installs) == 6
    assert "--editable" in installs.pop()  # this folder, which nobody could have replaced on a way
    assert all({"--require-hashes", "--no-deps", "-r"} <= set(command) for command in installs)


def test_an_interrupted_setup_goes_on_where_it_failed(uv, env):
    uv.fails["--reinstall-package"] = Cause.NETWORK
    uv.lacks = ["--offline"]
    with pytest.raises(SetupError):
        steps.set_up(Goal.RUN, env.folder)
    uv.fails.clear()
    uv.commands.clear()
    steps.set_up(Goal.RUN, env.folder)
    assert not any("run.txt" in word for command in uv.commands for word in command)
    assert uv.torch_sources() == ["--torch-backend=cpu torch-linux-cpu"]


@pytest.mark.parametrize("ends_well", [True, False])
def test_ears_and_a_voice_are_offered_once(uv, env, monkeypatch, capsys, *, ends_well):
    asked: list[list[str]] = []
    monkeypatch.setattr(steps, "ends_well", lambda command: asked.append(command) or ends_well)
    for offer in steps.OFFERS:
        assert f" {sum(each.megabytes for each in with_needs(offer.model))} MB" in offer.title
    steps.offer_models(steps.set_up(Goal.RUN, env.folder))
    steps.offer_models(steps.set_up(Goal.RUN, env.folder))
    said = capsys.readouterr().out
    get = [str(env.program("rubato")), "models", "get"]
    assert asked == [[*get, "whisper-base"], [*get, "kokoro"]]
    for words in ("the built-in recogniser listens", "the built-in voice speaks"):
        assert (words in said) == (not ends_well)


def test_new_pins_are_installed_and_a_new_gpu_brings_a_torch(uv, env, tmp_path, monkeypatch):
    for name in ("setup", "run", "build", "torch", "torch-linux-cpu"):
        (tmp_path / f"{name}.txt").write_text("old")
    monkeypatch.setattr(steps, "PINS", tmp_path)
    steps.set_up(Goal.RUN, env.folder)
    uv.commands.clear()
    (tmp_path / "run.txt").write_text("new")
    steps.set_up(Goal.RUN, env.folder)
    assert len(uv.commands) == 1
    assert str(tmp_path / "run.txt") in uv.commands[0]
    monkeypatch.setattr(steps, "hardware", lambda: "CUDA")
    steps.set_up(Goal.RUN, env.folder)
    assert uv.torch_sources() == ["index torch"]


@pytest.mark.parametrize(
    ("platform", "lacks", "source"),
    [
        ("linux", [], "--no-index torch-linux-cpu"),
        ("linux", [str(PINS / "torch-linux-cpu.txt")], "--no-index torch"),
        ("linux", ["--no-index"], "--torch-backend=cpu torch-linux-cpu"),
        ("linux", ["--no-index", "--torch-backend=cpu"], "index torch"),
        ("darwin", ["--no-index"], "index torch"),
    ],
)
def test_torch_comes_from_the_first_source(platform, lacks, source, uv, env, monkeypatch):
    monkeypatch.setenv("PIP_FIND_LINKS", "/wheels /more")
    monkeypatch.setattr(steps.sys, "platform", platform)
    uv.lacks = lacks
    steps.set_up(Goal.RUN, env.folder)
    assert uv.torch_sources() == [source]
    if source.startswith("--no-index"):
        command = next(each for each in uv.commands if "--reinstall-package" in each)
        folders = [command[i + 1] for i, word in enumerate(command) if word == "-f"]
        assert folders == ["/wheels", "/more"]


@pytest.mark.parametrize(
    ("machine", "is_told"),
    [(("win32", "CUDA"), True), (("win32", "CPU"), False), (("linux", "CUDA"), False)],
)
def test_on_windows_with_a_card_setup_says_how_to_get_cuda(
    uv, env, monkeypatch, capsys, machine, is_told
):
    monkeypatch.setattr(steps.sys, "platform", machine[0])
    monkeypatch.setattr(steps, "hardware", lambda: machine[1])
    steps.set_up(Goal.RUN, env.folder)
    assert uv.torch_sources() == ["index torch"]
    assert (CUDA_ON_WINDOWS in capsys.readouterr().out) == is_told


def test_the_page_says_the_same_of_cuda_on_windows_as_long_as_it_is_true():
    page = (ROOT / "resources" / "pages" / "installing.md").read_text(encoding="utf-8")
    assert f"{steps.IN_VENV} {CUDA_ON_WINDOWS}" in page
    pinned = (PINS / "torch-windows-cuda.txt").exists()
    assert ("for Windows are not pinned" in " ".join(page.split())) != pinned


def test_without_a_network_what_was_kept_is_enough_or_the_network_is_to_blame(uv, env):
    uv.fails["--require-hashes"] = Cause.NETWORK
    steps.pinned("run", "Packages").do(env)
    uv.lacks = ["--offline"]
    with pytest.raises(SetupError) as caught:
        steps.pinned("run", "Packages").do(env)
    assert caught.value.cause is Cause.NETWORK


def test_llama_is_compiled_for_what_the_processor_has(uv, monkeypatch):
    for machine, avx2, expected in (
        ("x86_64", True, ["-DGGML_AVX2=ON"]),
        ("x86_64", False, ["-DGGML_AVX2=OFF"]),
        ("aarch64", False, []),
    ):
        monkeypatch.setattr(steps.platform, "machine", lambda machine=machine: machine)
        monkeypatch.setattr(steps, "has_avx2", lambda avx2=avx2: avx2)
        flags = steps.cmake_settings()["CMAKE_ARGS"].split()
        assert [each for each in flags if "AVX2" in each] == expected
        assert not expected or "-DGGML_NATIVE=OFF" in flags
    monkeypatch.setenv("CMAKE_ARGS", "-DGGML_CUDA=ON")  # the person's own win
    assert steps.cmake_settings()["CMAKE_ARGS"] == "-DGGML_CUDA=ON"


def test_settings_of_pip_are_handed_to_uv_unless_it_has_its_own(monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example/simple")
    monkeypatch.setenv("PIP_CERT", "ours.pem")
    monkeypatch.setenv("SSL_CERT_FILE", "theirs.pem")
    monkeypatch.delenv("UV_DEFAULT_INDEX", raising=False)
    assert steps.index_settings() == {"UV_DEFAULT_INDEX": "https://index.example/simple"}


def test_the_menu_gets_an_entry_or_setup_goes_on(tmp_path, monkeypatch, capsys):
    home, environment = tmp_path / "share", Environment(tmp_path / "my venv")
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    monkeypatch.setattr(steps.sys, "platform", "linux")
    steps.show_in_desktop(environment)
    (entry,) = home.glob("applications/*.desktop")
    assert f'Exec="{environment.program("rubato")}"' in entry.read_text()
    assert (home / "icons/hicolor/scalable/apps" / entry.name).with_suffix(".svg").exists()
    assert "menu" in capsys.readouterr().out
    steps.show_in_desktop(environment)
    assert capsys.readouterr().out == ""  # there is nothing new
    monkeypatch.setenv("XDG_DATA_HOME", str(entry))  # a file where the folder should be
    steps.show_in_desktop(environment)
    assert "could not be added to the menu" in capsys.readouterr().out


@pytest.fixture
def fresh(tmp_path: Path) -> Environment:
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    return Environment(tmp_path / ".venv")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Folders that would have been made afresh."""
    folders: list[Path] = []

    def make(folder: Path) -> Environment:
        folders.append(folder)
        return Environment(folder)

    monkeypatch.setattr(environment, "make", make)
    return folders


@pytest.mark.parametrize(
    ("fault", "doing"),
    [
        (KeyboardInterrupt(), "run"),
        (SetupError("no network", Cause.NETWORK), None),
        (SetupError("full", Cause.DISK), "run"),
    ],
    ids=["cut off", "a failed download is trusted", "a full disk is in doubt"],
)
def test_a_step_is_remembered_as_it_ended_and_anew_does_not_count_meanwhile(fresh, fault, doing):
    with fresh.step("run", "k1"):
        pass
    assert (read(fresh.folder).done, read(fresh.folder).doing) == ({"run": "k1"}, None)
    with pytest.raises(type(fault)), fresh.step("run", "k2"):
        raise fault
    assert (read(fresh.folder).done, read(fresh.folder).doing) == ({}, doing)


def test_a_complete_environment_is_taken_as_it_is_and_a_moved_one_made_afresh(fresh, made):
    with fresh.step("run", "k1"):
        pass
    assert prepare(fresh.folder).done == {"run": "k1"}
    assert made == []
    moved = fresh.folder.rename(fresh.folder.with_name("elsewhere"))
    prepare(moved)
    assert made == [moved]


def test_one_that_is_missing_cut_off_or_has_lost_its_python_is_made_afresh(tmp_path, fresh, made):
    prepare(tmp_path / "none")
    python = fresh.folder / "bin" / "python"
    python.rename(tmp_path / "python3.11")
    python.symlink_to(tmp_path / "python3.11")
    with pytest.raises(KeyboardInterrupt), fresh.step("run", "k1"):
        raise KeyboardInterrupt
    prepare(fresh.folder)
    assert made == [tmp_path / "none", fresh.folder]
    with fresh.step("run", "k1"):
        pass
    prepare(fresh.folder)
    assert len(made) == 2
    python.unlink()
    python.symlink_to((tmp_path / "python3.11").rename(tmp_path / "python3.12"))
    prepare(fresh.folder)
    assert len(made) == 3


def test_an_environment_made_by_hand_is_adopted_when_it_runs(fresh, made, monkeypatch):
    for runs in (True, False):
        monkeypatch.setattr(environment, "succeeds", lambda command, runs=runs: runs)
        prepare(fresh.folder)
    assert made == [fresh.folder]


def test_an_unreadable_note_counts_as_nothing_done_and_is_written_whole(fresh):
    for note in ("", "{", "[]", '{"done": 3}', "\0"):
        (fresh.folder / NOTE).write_text(note)
        assert (read(fresh.folder).done, read(fresh.folder).doing) == ({}, None)
    fresh.write()
    assert json.loads((fresh.folder / NOTE).read_text())["done"] == {}
    assert not (fresh.folder / (NOTE + ".new")).exists()


def test_a_key_changes_with_every_part(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SetupError, match="Delete the folder"):
        environment.make(tmp_path / "file" / ".venv")
    file = tmp_path / "pins.txt"
    file.write_text("a==1")
    keys = [key_of("3.11", file), key_of("3.12", file), key_of("3.11", file, "")]
    file.write_text("a==2")
    keys.append(key_of("3.11", file))
    assert len(set(keys)) == len(keys)
