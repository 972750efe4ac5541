"""The window over AT-SPI, from a process of its own: read, moved, pressed and heard as a screen
reader does it.
"""

from collections.abc import Iterator

import pytest

from tests.end_to_end.program import own_environment
from tests.end_to_end.test_beyond_the_window import Program
from tests.help.machine.at_spi import Reader, accessible_desktop

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Reader, Program]]:
    """A reader that listens, and then the program."""
    own = own_environment(tmp_path_factory.mktemp("rubato"))
    with accessible_desktop() as (reader, environment):
        program = Program(environment | own | {"LC_ALL": "C.UTF-8"})
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
