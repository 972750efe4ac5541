"""Setup, done once, and its note: an environment that was cut off is not trusted."""

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from engine.models.storage import with_needs
from installer import steps
from installer.bootstrap.payload import Variant
from installer.commands import Cause, SetupError
from installer.plan import PINS, ROOT, TORCH, Goal
from installer.steps import NOTE, Environment, prepare, read


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
    monkeypatch.setattr(steps, "fitting_variant", lambda: Variant.CPU)
    monkeypatch.setattr(steps.sys, "platform", "linux")
    for name in ("UV_FIND_LINKS", "PIP_FIND_LINKS", "CMAKE_ARGS"):
        monkeypatch.delenv(name, raising=False)
    return fake


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    folder = tmp_path / ".venv"
    (folder / "bin").mkdir(parents=True)
    monkeypatch.setattr(steps, "usable", lambda environment: True)
    return Environment(folder)


def pins_in(command: Sequence[str]) -> list[str]:
    return [Path(word).stem for word in command if word.endswith(".txt")][1:]  # but build.txt


def test_every_goal_is_reached_once_and_packages_come_only_by_hash(uv, env):
    steps.set_up(Goal.RUN, env.folder)
    installer, packages, torch, _, project = uv.commands
    assert (pins_in(packages), pins_in(torch)) == (["run"], ["torch-linux-cpu"])
    assert all(
        {"--require-hashes", "--no-deps"} <= {*each} for each in (installer, packages, torch)
    )
    assert "--editable" in project  # this folder, which nobody could have replaced on a way
    uv.commands.clear()
    steps.set_up(Goal.TEST, env.folder)
    assert pins_in(uv.commands[1]) == ["run", "dev", "llm"]
    assert uv.torch_sources() == []
    uv.commands.clear()
    for goal in (Goal.RUN, Goal.DEMO, Goal.LLM, Goal.TEST):
        steps.set_up(goal, env.folder)
    assert uv.commands == []


def test_a_setup_that_failed_is_done_again(uv, env):
    uv.fails["--reinstall-package"] = Cause.NETWORK
    uv.lacks = ["--offline"]
    with pytest.raises(SetupError):
        steps.set_up(Goal.RUN, env.folder)
    assert not read(env.folder).changing
    uv.fails.clear()
    uv.commands.clear()
    steps.set_up(Goal.RUN, env.folder)
    assert uv.torch_sources() == ["--torch-backend=cpu torch-linux-cpu"]


@pytest.mark.parametrize("ends_well", [True, False])
def test_ears_and_a_voice_are_offered_once(uv, env, monkeypatch, capsys, *, ends_well):
    asked: list[list[str]] = []
    monkeypatch.setattr(steps, "ends_well", lambda command: asked.append(command) or ends_well)
    for model, (title, _) in steps.OFFERS.items():
        assert f" {sum(each.megabytes for each in with_needs(model))} MB" in title
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
    assert pins_in(uv.commands[1]) == ["run"]
    assert uv.torch_sources() == []
    monkeypatch.setattr(steps, "fitting_variant", lambda: Variant.CUDA)
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
    monkeypatch.setattr(steps, "fitting_variant", lambda: Variant[machine[1]])
    steps.set_up(Goal.RUN, env.folder)
    assert uv.torch_sources() == ["index torch"]
    assert ("installing.md" in capsys.readouterr().out) == is_told


def test_the_page_says_the_same_of_cuda_on_windows_as_long_as_it_is_true():
    page = (ROOT / "resources" / "pages" / "installing.md").read_text(encoding="utf-8")
    assert f" {TORCH}+cu130\n" in page
    pinned = (PINS / "torch-windows-cuda.txt").exists()
    assert ("for Windows are not pinned" in " ".join(page.split())) != pinned


def test_without_a_network_what_was_kept_is_enough_or_the_network_is_to_blame(uv, env):
    uv.fails["--no-progress"] = Cause.NETWORK
    steps.set_up(Goal.RUN, env.folder)
    uv.lacks = ["--offline"]
    with pytest.raises(SetupError) as caught:
        steps.set_up(Goal.TEST, env.folder)
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
    """An environment in which a setup has ended well."""
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    made = Environment(tmp_path / ".venv", {"run.txt": "k1"})
    made.write()
    return made


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Folders that would have been made afresh."""
    folders: list[Path] = []

    def make(folder: Path) -> Environment:
        folders.append(folder)
        return Environment(folder)

    monkeypatch.setattr(steps, "make", make)
    return folders


@pytest.mark.parametrize(
    ("fault", "changing"),
    [
        (KeyboardInterrupt(), True),
        (SetupError("no network", Cause.NETWORK), False),
        (SetupError("full", Cause.DISK), True),
    ],
    ids=["cut off", "a failed download is trusted", "a full disk is in doubt"],
)
def test_a_change_that_was_cut_off_makes_the_environment_afresh(fresh, made, fault, changing):
    with pytest.raises(type(fault)), fresh.change():
        raise fault
    assert read(fresh.folder).changing is changing
    prepare(fresh.folder)
    assert made == [fresh.folder] * changing


def test_a_complete_environment_is_taken_as_it_is_and_a_moved_one_made_afresh(fresh, made):
    with fresh.change():
        pass
    assert prepare(fresh.folder).done == {"run.txt": "k1"}
    assert made == []
    moved = fresh.folder.rename(fresh.folder.with_name("elsewhere"))
    prepare(moved)
    assert made == [moved]


def test_one_that_is_missing_or_has_lost_its_python_is_made_afresh(tmp_path, fresh, made):
    prepare(tmp_path / "none")
    (fresh.folder / "bin" / "python").rename(tmp_path / "python3.12")
    (fresh.folder / "bin" / "python").symlink_to(tmp_path / "python3.12")
    prepare(fresh.folder)
    assert made == [tmp_path / "none", fresh.folder]


def test_an_environment_made_by_hand_is_adopted_when_it_runs(fresh, made, monkeypatch):
    (fresh.folder / NOTE).unlink()
    for runs in (True, False):
        monkeypatch.setattr(steps, "succeeds", lambda command, runs=runs: runs)
        prepare(fresh.folder)
    assert made == [fresh.folder]


def test_an_unreadable_note_counts_as_nothing_done_and_is_written_whole(fresh):
    for note in ("", "{", "[]", '{"done": 3}', "\0"):
        (fresh.folder / NOTE).write_text(note)
        assert read(fresh.folder) == Environment(fresh.folder)
    fresh.write()
    assert json.loads((fresh.folder / NOTE).read_text())["done"] == {"run.txt": "k1"}
    assert not (fresh.folder / (NOTE + ".new")).exists()


def test_an_environment_that_cannot_be_made_is_reported(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SetupError, match="Delete the folder"):
        steps.make(tmp_path / "file" / ".venv")
