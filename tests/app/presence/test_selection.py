from functools import partial
from types import SimpleNamespace

import pytest
from jeepney import HeaderFields
from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication

from app.presence import selection
from app.presence.bus import Bus
from app.presence.selection import SelectedText, joined, read_selection
from engine import api

ACTIVE, FOCUSED, SHOWING = 1 << 1, 1 << 12, 1 << 25


class Programs(Bus):
    """AT-SPI's bus with a tree of objects: their state, children, text and what is selected in it.
    `silent`: methods that are never answered; `strange`: answers of other types than AT-SPI's.
    """

    def __init__(self, parent, windows, silent=(), strange=()):
        super().__init__(parent)
        self.root = {"children": [{"children": windows}]}
        self.silent = silent
        self.strange = dict(strange)

    def connect_to(self, address):
        return bool(address)

    def call(self, address, method, signature="", body=(), answered=lambda message: None):
        if method in self.silent:
            return
        found = self.strange.get(method) or self._answer(address, method, body)
        fields = {} if found is None else {HeaderFields.signature: found[0]}
        kind = SimpleNamespace(name="error" if found is None else "method_return")
        header = SimpleNamespace(message_type=kind, fields=fields)
        message = SimpleNamespace(header=header, body=() if found is None else found[1])
        QTimer.singleShot(0, self, partial(answered, message))

    def _answer(self, address, method, body):
        """The signature and the values; None for an error."""
        if method == "GetAddress":
            return "s", ("unix:path=/a11y",)
        node, inside = self.root, address.path.removeprefix("/at").strip("/")
        for number in inside.split("/") if address.path.startswith("/at/") else ():
            node = node["children"][int(number)]
        at = address.path if address.path.startswith("/at/") else "/at"
        text, selected = node.get("text"), node.get("selected")
        match method:
            case "GetChildren":
                children = range(len(node.get("children", [])))
                return "a(so)", ([("app", f"{at}/{number}") for number in children],)
            case "GetState":
                return "au", ([node.get("state", SHOWING), 0],)
            case "GetSelection" if text is not None:
                first = text.find(selected)
                return "ii", ((first, first + len(selected)) if first >= 0 else (0, 0))
            case "GetText":
                return "s", (text[body[0] : body[1]],)
        return None


@pytest.fixture
def said(qtbot, monkeypatch):
    def ask(*windows, silent=(), strange=()):
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/session")
        parent = Bus()
        asked = SelectedText(parent, lambda owner: Programs(owner, list(windows), silent, strange))
        with qtbot.waitSignal(asked.found, timeout=5_000) as found:
            asked.ask()
        return found.args[0]

    return ask


def window(*children, state=ACTIVE | SHOWING):
    return {"state": state, "children": list(children)}


def text(whole, selected="\0", state=SHOWING, children=()):
    return {"state": state, "text": whole, "selected": selected, "children": list(children)}


def test_what_is_selected_in_the_object_with_the_focus_is_found(said):
    box = {"children": [text("Tea at four.", "at four", SHOWING | FOCUSED)]}
    assert said(window(text("a title", "title"), box)) == "at four"


def test_only_the_active_window_counts_and_what_it_shows(said):
    behind = window(text("another", "other"), state=SHOWING)
    hidden = {"state": 0, "children": [text("a page", "page")]}
    assert said(behind, window(text("this one", "one"), hidden)) == "one"


def test_paragraphs_and_links_of_a_page_are_read_in_their_order(said):
    link = text("the bridge", "the bridge")
    first = text("Over \ufffc and on.", "Over \ufffc and on.", children=[link])
    page = text("\ufffc\ufffc", "\ufffc\ufffc", SHOWING | FOCUSED, [first, text("Not all.", "Not")])
    assert said(window(page)) == "Over the bridge and on.\nNot"


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        *((method, None) for method in ("GetAddress", "GetChildren", "GetSelection")),
        ("GetAddress", ("u", (7,))),
        ("GetChildren", ("as", (["app"],))),
        ("GetState", ("au", ([],))),
        ("GetState", ("s", ("active",))),
        ("GetSelection", ("s", ("0, 4",))),
        ("GetText", ("i", (4,))),
    ],
)
def test_a_program_that_does_not_answer_or_not_as_at_spi_has_no_selection(said, method, answer):
    faulty = {"strange": {method: answer}} if answer else {"silent": (method,)}
    assert said(window(text("this one", "one")), **faulty) == ""


def test_a_tree_without_end_is_left(said, monkeypatch):
    """Long before the time is over, which would end it, too."""
    monkeypatch.setattr(selection, "_WITHIN_MS", 60_000)
    monkeypatch.setattr(selection, "_MOST", 200)
    endless = {"state": SHOWING, "children": []}
    endless["children"] = [endless, endless]
    assert said(window(endless)) == ""


def test_texts_within_each_other_without_end_are_left(said, monkeypatch):
    monkeypatch.setattr(selection, "_WITHIN_MS", 60_000)
    inner = text("\ufffc", "\ufffc")
    inner["children"] = [inner]
    assert said(window(inner)) == ""


def test_without_a_bus_nothing_is_found(qtbot, monkeypatch):
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    parent = Bus()
    asked = SelectedText(parent)
    with qtbot.waitSignal(asked.found) as found:
        asked.ask()
    assert found.args == [""]


def test_texts_without_a_place_in_another_one_have_lines_of_their_own():
    assert joined({(2,): "last", (0, 1): "first", (0, 2): " "}) == "first\nlast"


def test_wayland_asks_the_program_with_the_focus_for_its_selection(window, posted, monkeypatch):
    asked = []
    monkeypatch.setattr(QGuiApplication, "platformName", lambda: "wayland")
    monkeypatch.setattr(SelectedText, "ask", lambda selection: asked.append(selection))
    QGuiApplication.clipboard().setText("What was copied.")
    read_selection(window)
    assert posted == []
    asked[0].found.emit("What is selected.")
    assert posted[-1] == api.Speak("What is selected.", private=True)
    asked[0].found.emit("")
    assert posted[-1] == api.Speak("What was copied.", private=True)
