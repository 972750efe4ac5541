"""Text from outside, shown by every widget of the window: nothing in it is obeyed.

The hostile text asks for an image in a colour that nothing else has: where a picture of a widget
holds that colour, markup was obeyed and a file of the person's disk was loaded.
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QColor, QHelpEvent, QImage
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QToolTip, QWidget

from app.conversation.view import Conversation
from app.keys import KeysCard
from app.window import Window
from engine import api
from tests.help.window import ORDERS

CANARY = QColor(255, 0, 254)
TERMINAL = "\x1b]0;mine\x07\x1b[2J\x9b31m\x08\x00\r\ud800"
BIDI = "\u202etxt.exe\u2066"

DEVICES = (api.SettingKey.MICROPHONE, api.SettingKey.LOUDSPEAKER)


@pytest.fixture
def hostile(tmp_path: Path) -> str:
    image = QImage(40, 40, QImage.Format.Format_RGB32)
    image.fill(CANARY)
    assert image.save(str(tmp_path / "canary.png"))
    address = (tmp_path / "canary.png").as_uri()
    picture = f'<img src="{address}" width="40" height="40">![p]({address})'
    return f'<b>x</b>{picture}&lt;i&gt;<a href="http://x.example">y</a>{TERMINAL}{BIDI}\nend'


def values(kind: Any, hostile: str) -> list[Any]:
    """What a field of this type may hold, at its worst."""
    known: dict[Any, list[Any]] = {
        str: [hostile],
        bool: [True],
        int: [1],
        float: [0.5],
        Path: [Path("/nowhere") / hostile.replace("/", "\u2215").replace("\0", "")],
        tuple[str, ...]: [(hostile, "Ada")],
        api.TurnMetrics: [api.TurnMetrics(first_token_ms=3.0, heard_ms=9.0)],
    }
    if isinstance(kind, type) and issubclass(kind, Enum):
        return list(kind)
    if kind in known:
        return known[kind]
    if get_origin(kind) is tuple:
        first, *others = get_args(kind)
        rest = tuple(values(each, hostile)[0] for each in others if each is not Ellipsis)
        return [(value, *rest) for value in values(first, hostile)]
    if is_dataclass(kind):
        return list(events(kind, hostile))
    return [
        value
        for each in get_args(kind)
        if each is not type(None)
        for value in values(each, hostile)
    ]


def events(kind: Any, hostile: str) -> Iterator[Any]:
    """Events of this kind with hostile text wherever there is text."""
    hints = get_type_hints(kind)
    choices = {field.name: values(hints[field.name], hostile) for field in fields(kind)}
    plain = {name: choice[0] for name, choice in choices.items()}
    yield kind(**plain)
    for name, choice in choices.items():
        yield from (kind(**{**plain, name: value}) for value in choice[1:])


def everything(hostile: str) -> Iterator[api.Event]:
    """Every event there is, each of a turn of its own."""
    yield from events(api.ConversationOpened, hostile)  # first: it clears what is there
    turn = 10  # after those of the conversation that was opened
    for kind in get_args(api.Event):
        if kind in (api.SettingChanged, api.WordHeard, api.ConversationOpened):
            continue
        for event in events(kind, hostile):
            turn += 1
            if hasattr(event, "turn"):
                object.__setattr__(event, "turn", turn)
            yield event
    yield api.Failed("unreadable-clip", hostile, hostile)
    yield from (api.SettingChanged(key, hostile) for key in ("speech.voice", *DEVICES))


def loaded(widget: QWidget) -> bool:
    """Whether the canary is to be seen."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return CANARY.rgb().to_bytes(4, "little") in bytes(image.constBits() or b"")


def tip_of(widget: QWidget) -> QWidget | None:
    """Have it show its tool tip; None when it has none."""
    QToolTip.hideText()
    place = QPoint(3, 3)
    QApplication.sendEvent(
        widget, QHelpEvent(QEvent.Type.ToolTip, place, widget.mapToGlobal(place))
    )
    tips = [each for each in QApplication.topLevelWidgets() if each.inherits("QTipLabel")]
    return tips[-1] if QToolTip.isVisible() and tips else None


def texts(widget: QWidget) -> Iterator[str]:
    """Everything it says, to the eye and to a screen reader."""
    meta = widget.metaObject()
    for number in range(meta.propertyCount()):
        name = meta.property(number).name()
        value = widget.property(name)
        if isinstance(value, str) and name != "currentData":  # which nobody sees
            yield value
    for action in widget.actions():
        yield from (action.text(), action.toolTip(), action.statusTip())
    if isinstance(widget, QComboBox):
        yield from (widget.itemText(index) for index in range(widget.count()))
    if isinstance(widget, Conversation):
        yield widget.document().toPlainText()


def faults(widget: QWidget) -> list[str]:
    found = [f"an order in {text[:60]!r}" for text in texts(widget) if ORDERS.search(text)]
    if isinstance(widget, QLabel) and widget.textFormat() is not Qt.TextFormat.PlainText:
        found.append("a label that may obey markup")
    if loaded(widget):
        found.append("an image was loaded")
    tip = tip_of(widget)
    if tip is not None and loaded(tip):
        found.append("an image was loaded by the tool tip")
    return [f"{type(widget).__name__} {widget.accessibleName()[:20]!r}: {each}" for each in found]


def all_faults(window: Window) -> list[str]:
    QApplication.processEvents()
    widgets = [window, *window.findChildren(QWidget)]
    return [fault for widget in widgets for fault in faults(widget)]


@pytest.mark.parametrize("ready", [False, True], ids=["loading", "ready"])
def test_no_widget_obeys_text_from_outside(window, hostile, ready):
    """The window with all it can open."""
    window.open_settings(None)
    KeysCard(window.talk_key.label, window).show()
    told = list(everything(hostile))
    for event in told if ready else reversed(told):
        window.on_event(event)
    assert all_faults(window) == []
    if ready:  # what looks like markup is shown
        assert window.conversation.toPlainText().count("<img") > len(api.Ending)
        assert "<img" in window.banner.message.text()
        assert "<img" in window.notice.text()
        assert "<img" in window.side.voices.names.itemText(0)


def test_the_name_of_a_dropped_file_is_shown_as_it_is(window, hostile):
    window.side.voices.add_file(values(Path, hostile)[0])
    assert "<img" in window.side.voices.sheet.title.text()
    assert all_faults(window) == []


def test_a_voice_is_chosen_by_its_own_name_however_it_is_shown(window, posted, hostile):
    window.on_event(api.VoicesChanged(("Ada", hostile), "Ada"))
    window.side.voices.names.activated.emit(1)
    assert posted == [api.ChangeSetting("speech.voice", hostile)]
    window.on_event(api.VoicesChanged(("Ada", hostile), hostile))
    assert window.side.voices.names.currentIndex() == 1


def test_the_canary_is_seen_where_markup_is_obeyed(qtbot, qapp, hostile):
    label = QLabel(hostile.split("&lt;")[0])
    qtbot.addWidget(label)
    label.setToolTip(hostile)
    label.show()
    said = faults(label)
    assert sum("image was loaded" in fault for fault in said) == 2
    assert any("may obey" in fault for fault in said)


def test_every_phase_and_part_is_among_the_events(hostile):
    told = list(everything(hostile))
    assert {event.phase for event in told if hasattr(event, "phase")} == set(api.Phase)
    assert {event.part for event in told if isinstance(event, api.Failed)} >= set(api.Part)
