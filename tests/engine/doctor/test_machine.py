"""The doctor looks at everything and survives what is broken; its checks of the machine, each seen
well and seen broken.
"""

import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from importlib.machinery import ModuleSpec
from types import SimpleNamespace

import pytest

from engine.doctor import CHECKS, examine, machine
from engine.doctor.finding import Finding, State
from engine.settings import Settings, change


def one(check: Callable[[Settings], object], settings: Settings | None = None) -> Finding:
    """The most severe finding of a check."""
    order = [State.OK, State.WARNING, State.FAULT]
    return max(check(settings or Settings()), key=lambda finding: order.index(finding.state))


def test_the_supported_pythons_are_well_and_missing_packages_are_named(monkeypatch):
    for version, state in ((10, State.FAULT), (11, State.OK), (13, State.OK), (14, State.FAULT)):
        monkeypatch.setattr(machine.sys, "version_info", (3, version))
        assert one(machine.python).state is state

    def version(name: str) -> str:
        if name in ("soxr", "pint"):
            raise metadata.PackageNotFoundError(name)
        return "1.0"

    monkeypatch.setattr(machine.metadata, "version", version)
    assert one(machine.packages).text == "Not installed: soxr, pint"


def fake_torch(monkeypatch: pytest.MonkeyPatch, *, capability: tuple[int, int] | None) -> None:
    """A torch that sees one card of this compute capability; None: it sees none."""
    cuda = SimpleNamespace(
        is_available=lambda: capability is not None,
        device_count=lambda: 1,
        get_device_name=lambda number: "Card",
        get_device_capability=lambda number: capability,
        get_arch_list=lambda: ["sm_80", "sm_90"],
    )
    torch = SimpleNamespace(__version__="2.13.0", version=SimpleNamespace(cuda="13.0"), cuda=cuda)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(machine.importlib.util, "find_spec", lambda name: ModuleSpec(name, None))
    monkeypatch.setattr(machine.card, "has_driver", lambda: capability is not None)


def test_a_card_that_torch_was_not_built_for_or_that_is_not_there_is_reported(monkeypatch):
    for capability, state in (((9, 0), State.OK), ((8, 6), State.OK), ((12, 0), State.WARNING)):
        fake_torch(monkeypatch, capability=capability)
        finding = one(machine.graphics_card)
        assert finding.state is state
        assert "Card, compute " in finding.text
    fake_torch(monkeypatch, capability=None)
    assert one(machine.graphics_card).state is State.OK
    wanted = change(Settings(), "speech.device", "cuda")
    assert one(machine.graphics_card, wanted).state is State.WARNING
    monkeypatch.setattr(machine.card, "has_driver", lambda: True)
    assert "cannot use it" in one(machine.graphics_card).text
    monkeypatch.setattr(machine.importlib.util, "find_spec", lambda name: None)
    assert one(machine.graphics_card).state is State.FAULT


def test_no_torch_is_imported_where_no_card_can_be_nor_to_know_of_cuda(monkeypatch, tmp_path):
    monkeypatch.setattr(machine.card, "has_driver", lambda: False)
    monkeypatch.setattr(machine.importlib.util, "find_spec", lambda name: ModuleSpec(name, None))
    monkeypatch.setitem(sys.modules, "torch", None)  # importing it would fail
    assert one(machine.graphics_card).state is State.OK
    spec = ModuleSpec("torch", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(machine.importlib.util, "find_spec", lambda name: spec)
    for built_for in (None, "13.0"):
        (tmp_path / "version.py").write_text(f"cuda: Optional[str] = {built_for!r}\n")
        assert machine.card.knows_cuda() is (built_for is not None)


def test_little_room_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path / "not" / "yet"))
    for free_mib, state in ((99, State.FAULT), (2047, State.WARNING), (2048, State.OK)):
        free = SimpleNamespace(free=free_mib * machine.MIB)
        monkeypatch.setattr(machine.shutil, "disk_usage", lambda folder, free=free: free)
        assert one(machine.room).state is state


def test_no_display_or_one_without_the_library_that_qt_does_not_name_is_reported(monkeypatch):
    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(machine.sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert one(machine.display).state is State.WARNING
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setattr(machine.ctypes, "CDLL", missing)
    assert "libxcb-cursor0" in one(machine.display).advice


@pytest.mark.parametrize(
    ("content", "state"),
    [(None, State.OK), ("[audio]\nvolume = 0.5\n", State.OK), ("[audio\n", State.WARNING)],
)
def test_the_settings_file_is_read_and_its_folder_has_to_be_writable(
    content, state, tmp_path, monkeypatch
):
    monkeypatch.setenv("RUBATO_CONFIG", str(tmp_path))
    if content is not None:
        (tmp_path / "settings.toml").write_text(content)
    assert one(machine.settings_file).state is state
    monkeypatch.setattr(machine.os, "access", lambda folder, mode: False)
    assert any("cannot be written" in each.text for each in machine.settings_file(Settings()))


def test_a_check_that_breaks_is_a_fault_and_the_others_still_speak():
    def broken(settings: Settings) -> Iterator[Finding]:
        yield Finding("first", State.OK, "fine")
        raise RuntimeError("the driver is gone")

    def fine(settings: Settings) -> list[Finding]:
        return [Finding("second", State.OK, "fine")]

    findings = examine(Settings(), [("broken", broken), ("fine", fine)])
    assert [finding.state for finding in findings] == [State.OK, State.FAULT, State.OK]
    assert "RuntimeError: the driver is gone" in findings[1].text


def test_every_part_of_this_machine_is_looked_at_and_no_fault_lacks_advice():
    findings = examine(Settings())
    looked_at = {"Python", "packages", "disk", "display", "recordings", "recogniser", "synthesiser"}
    assert looked_at <= {finding.part for finding in findings}
    assert all(finding.text for finding in findings)
    assert all(finding.advice for finding in findings if finding.state is not State.OK)
    assert not any("check itself failed" in finding.text for finding in findings)
    assert len(CHECKS) == 11
