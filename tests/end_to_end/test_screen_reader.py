"""The window over AT-SPI, from a process of its own: read, moved, pressed and heard as a screen
reader does it.
"""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.end_to_end.program import own_environment
from tests.end_to_end.test_beyond_the_window import Program
from tests.help.machine import at_spi, private_bus
from tests.help.machine.at_spi import Reader
from tests.help.machine.virtual_desktop import missing_programs, virtual_desktop

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Reader, Program]]:
    """A reader that listens, and then the program."""
    assert not missing_programs(), missing_programs()
    assert not at_spi.is_missing(), "the test needs at-spi2-core"
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rubato-test")))
        bus = stack.enter_context(private_bus.private_bus(folder))
        desktop = stack.enter_context(virtual_desktop())
        environment = {
            **desktop.environment,
            **own_environment(tmp_path_factory.mktemp("rubato")),
            "DBUS_SESSION_BUS_ADDRESS": bus,
            "XDG_RUNTIME_DIR": str(folder),
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
            "LC_ALL": "C.UTF-8",
        }
        reader = stack.enter_context(at_spi.at_spi(environment))
        program = Program(environment)
        yield reader, program
        program.kill()


def test_the_rate_is_read_and_moved_a_switch_thrown_and_what_comes_of_a_message_is_said(told):
    reader, program = told
    window = reader.window("Rubato")
    slider = reader.find(window, "slider", "Speaking rate")
    assert reader.description(slider) == "own pace"
    reader.set_value(slider, 45)
    program.says("speech.rate 4.5")
    assert reader.value(slider) == 45
    assert reader.description(slider) == "4.5 syllables per second"
    reader.act(reader.find(window, "check box", "Hands-free"))
    program.says("audio.hands_free False")
    reader.type(reader.find(window, "text", "Message"), "tea in five minutes")
    reader.act(reader.find(window, "push button", "Send (Enter)"))
    program.says("SendText(text='tea in five minutes'")
    said = [reader.next_announcement() for _ in range(2)]
    assert said == ["Timer set.", "The microphone was unplugged. Plug it in."]
