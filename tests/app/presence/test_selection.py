from functools import partial
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication

from app.presence.bus import Bus
from app.presence.selection import SelectedText, joined, read_selection
from engine import api

ACTIVE, FOCUSED, SHOWING = 1 << 1, 1 << 12, 1 << 25


class Programs(Bus):
    """AT-SPI's bus with a tree of objects: their state, children, selected text and where it
    begins. `silent`: methods that are never answered.
    """

    def __init__(self, parent, windows, silent=()):
        super().__init__(parent)
        self.root = {"children": [{"children": windows}]}
        self.silent = silent

    def connect_to(self, address):
        return bool(address)

    def call(self, address, method, signature="", body=(), answered=lambda message: None):
        if method in self.silent:
            return
        if method == "GetAddress":
            answer = "unix:path=/a11y"
        else:
            answer = self._answer(address, method, body)
        kind = "error" if answer is None else "method_return"
        body = answer if method == "GetSelection" else (answer,)
        header = SimpleNamespace(message_type=SimpleNamespace(name=kind))
        message = SimpleNamespace(header=header, body=body)
        QTimer.singleShot(0, self, partial(answered, message))

    def _answer(self, address, method, body):
        node = self.root
        if address.path.startswith("/at"):
            for number in address.path.removeprefix("/at").strip("/").split("/"):
                node = node["children"][int(number)]
        at = address.path if address.path.startswith("/at") else "/at"
        match method:
            case "GetChildren":
                return [("app", f"{at}/{n}") for n in range(len(node.get("children", [])))]
            case "GetState":
                return [node.get("state", SHOWING), 0]
            case "GetSelection":
                whole = node.get("text")
                if whole is None:
                    return None
                first = whole.find(node.get("selected", "\0"))
                return (first, first + len(node["selected"])) if first >= 0 else (0, 0)
            case "GetText":
                return node["text"][body[0] : body[1]]


@pytest.fixture
def said(qtbot, monkeypatch):
    def ask(*windows, silent=()):
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/session")
        parent = Bus()
        asked = SelectedText(parent, lambda owner: Programs(owner, list(windows), silent))
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


@pytest.mark.parametrize("silent", [("GetAddress",), ("GetChildren",), ("GetSelection",)])
def test_a_program_that_does_not_answer_has_nothing_selected(said, silent):
    assert said(window(text("this one", "one")), silent=silent) == ""


def test_a_program_without_end_is_not_looked_through(said):
    endless = {"state": SHOWING, "children": []}
    endless["children"] = [endless, endless]
    assert said(window(endless)) == ""


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
