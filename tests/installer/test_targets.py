"""The packages of Windows and macOS: which of the pins they are, and that all have wheels."""

import pytest

from installer.pin import pins
from installer.targets import MACOS, PYTHONS, TARGETS, WINDOWS, lacking, needed, text_of

HASH = " \\\n    --hash=sha256:" + 64 * "0" + "\n"
PINNED = "".join(
    line + HASH
    for line in (
        "everywhere==1",
        "zones==2 ; sys_platform == 'win32'",
        "display==3 ; sys_platform == 'linux'",
        "old==4 ; python_full_version < '3.12'",
        "chip==5 ; platform_machine == 'arm64' or platform_machine == 'AMD64'",
    )
)


def names(text: str) -> list[str]:
    return [pin.line for pin in pins(text)]


def test_a_system_gets_what_its_markers_name_and_no_markers_to_misjudge():
    windows = ["everywhere==1", "zones==2", "old==4", "chip==5"]
    assert names(needed(PINNED, WINDOWS, "3.11")) == windows
    assert names(needed(PINNED, MACOS, "3.13")) == ["everywhere==1", "chip==5"]
    assert needed(PINNED, MACOS, "3.13") == "everywhere==1" + HASH + "chip==5" + HASH


@pytest.mark.parametrize("python", PYTHONS)
def test_windows_gets_time_zones_and_one_torch_without_cuda_and_macos_nothing_of_others(python):
    found = [line.partition("==")[0] for line in names(needed(text_of(), WINDOWS, python))]
    assert {"tzdata", "torch", "pyside6-essentials"} <= set(found)
    assert len(found) == len(set(found))
    assert not [name for name in found if name.startswith(("nvidia", "cuda", "triton", "python-x"))]
    found = {line.partition("==")[0] for line in names(needed(text_of(), MACOS, python))}
    assert "torch" in found
    assert not found & {"colorama", "python-xlib", "triton", "nvidia-cudnn-cu13"}


@pytest.mark.long
@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_every_package_has_a_wheel_with_a_pinned_hash(target, python):
    assert lacking(target, python, text_of()) == ""


@pytest.mark.long
def test_a_package_without_a_wheel_is_named():
    digest = "49b3a825280bd66b3aa83585ef59c4a8c82f2c8a522dbe754a8bc8d08c85c491"
    source = f"docopt==0.6.2 \\\n    --hash=sha256:{digest}\n"
    assert "docopt" in lacking(WINDOWS, "3.13", source)
