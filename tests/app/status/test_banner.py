"""A fault goes when its cause is gone, and no sooner."""

import pytest

from app.look.theme import Theme
from app.status.banner import Banner
from engine.api import Ending, Failed, Part, Ready, TurnEnded


@pytest.fixture
def banner(qtbot, theme: Theme) -> Banner:
    made = Banner(theme, None)
    qtbot.addWidget(made)
    return made


def fault(part: Part | None, turn: int | None = None) -> Failed:
    name = part.value if part else "engine"
    return Failed("fault", f"The {name} failed.", "Do something.", turn, part)


def spoken(turn: int, ending: Ending = Ending.COMPLETE) -> TurnEnded:
    return TurnEnded(turn, ending, "hi", "hello", "hello", "hello")


def test_the_fault_of_a_part_goes_when_the_part_itself_works_again(banner):
    banner.on_event(fault(Part.SYNTHESISER))
    banner.on_event(Ready(Part.LOUDSPEAKER, "speakers"))
    banner.on_event(Ready(Part.SYNTHESISER, "espeak", instead=True))
    assert banner.count == 1
    banner.on_event(Ready(Part.SYNTHESISER, "starter"))
    assert banner.count == 0
    assert banner.isHidden()


@pytest.mark.parametrize(
    ("failed", "left"),
    [
        (fault(Part.LANGUAGE_MODEL, turn=3), 0),
        (fault(Part.RECOGNISER, turn=3), 1),
        (fault(None), 1),
        (fault(Part.MICROPHONE), 1),
    ],
)
def test_the_fault_of_a_reply_goes_with_the_next_that_is_spoken_and_no_other(banner, failed, left):
    banner.on_event(failed)
    banner.on_event(spoken(3))
    banner.on_event(spoken(4, Ending.FAILED))
    assert banner.count == 1
    banner.on_event(spoken(5))
    assert banner.count == left


def test_the_fault_being_read_stays_when_another_one_goes(banner):
    banner.on_event(fault(Part.MICROPHONE))
    banner.on_event(fault(Part.LOUDSPEAKER))
    banner.on_event(fault(Part.RECOGNISER))
    banner.earlier.click()
    assert banner.message.text() == "The loudspeaker failed."
    banner.on_event(Ready(Part.MICROPHONE, "usb"))
    assert banner.message.text() == "The loudspeaker failed."
    assert banner.counter.text() == "1/2"
