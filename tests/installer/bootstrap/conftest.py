"""A release of Rubato in small: real files and a uv that makes real environments, of one module."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from installer.bootstrap import installation, payload
from installer.bootstrap.paths import Home
from installer.bootstrap.payload import Payload
from installer.bundle import put_bootstrapper

PACKAGES = "pyside6-essentials==6 \\\n    --hash=sha256:aa\nnumpy==2 \\\n    --hash=sha256:bb\n"
SITE = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"

# What uv does, as far as the bootstrapper asks for it. $FAULT_FILE (a file) has it fail once each
# line: "torch No space left on device".
UV = f"""#!/bin/sh
say() {{ echo "$*"; }}
case "$1" in
venv)
    mkdir -p "$5/bin" "$5/{SITE}"
    ln -s "$4" "$5/bin/python"
    printf 'home = %s\\n' "$(dirname "$4")" > "$5/pyvenv.cfg"
    ;;
pip)
    for word; do
        case "$word" in *.txt|*.whl) what=$word;; */bin/python) python=$word;; esac
    done
    env=$(dirname "$(dirname "$python")")
    name=$(basename "$what")
    if [ -f "$FAULT_FILE" ]; then
        read -r part words < "$FAULT_FILE"
        case "$name" in *"$part"*) rm "$FAULT_FILE"; say "error: $words"; exit 2;; esac
    fi
    say "Downloaded $name"
    echo "$@" > "$env/{SITE}/$name.installed"
    case "$name" in *.whl) cp -r "$what.d/." "$env/{SITE}";; esac
    ;;
esac
"""
PROGRAM = """
import sys
print("rubato VERSION", *sys.argv[1:])
sys.exit("--broken" in sys.argv)
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Of a person whose name is not ASCII."""
    person = tmp_path / "Jürgen Ωmega"
    person.mkdir()
    monkeypatch.setenv("HOME", str(person))
    for name in ("UV_FIND_LINKS", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "RUBATO_CONFIG", "RUBATO_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RUBATO_PROGRAM", str(person / "program"))
    return Home(person / "program")


@pytest.fixture
def release(tmp_path: Path) -> Callable[[str], Payload]:
    """release("1.0"): an unpacked release of that version."""
    return lambda version: make_release(tmp_path / f"rubato-{version}", version)


def make_release(folder: Path, version: str) -> Payload:
    if folder.exists():
        return payload.read(folder)
    (folder / "pins").mkdir(parents=True)
    (folder / "pins" / "run.txt").write_text(PACKAGES)
    for name in ("torch.txt", "torch-linux-cpu.txt"):
        (folder / "pins" / name).write_text("torch==2 \\\n    --hash=sha256:cc\n")
    (folder / "uv").write_text(UV)
    (folder / "uv").chmod(0o755)
    wheel = folder / f"rubato-{version}-py3-none-any.whl"
    wheel.write_text("")
    app = folder / f"{wheel.name}.d" / "app"
    app.mkdir(parents=True)
    (app / "__init__.py").touch()
    (app / "__main__.py").write_text(PROGRAM.replace("VERSION", version))
    (app / "installed.py").write_text("print('it works')\n")
    put_bootstrapper(folder / payload.BOOTSTRAPPER)
    return payload.write_list(folder, version)


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """One without a driver, whatever runs the tests."""
    monkeypatch.setenv("FAULT_FILE", "/nowhere")
    monkeypatch.setattr(payload, "fitting_variant", lambda: payload.Variant.CPU)
    monkeypatch.setattr(installation, "fitting_variant", lambda: payload.Variant.CPU)
