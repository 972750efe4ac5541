"""Every page and dialog there is, opened in a window, with something on it.

Invariant: a page that a person can open is in PAGES; what walks them all is told of a new one here.
"""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QAbstractButton, QApplication, QMessageBox, QWidget

from app.about import AboutPage
from app.keys import KeysCard
from app.settings.form import PAGES as SETTINGS_PAGES
from app.voice.page import VoicesPage
from app.window import Window
from engine import api
from tests.help.fakes.engine import LIBRARY, READY, lacking_turn, measurements, spoken_turn
from tests.help.window import tell

Open = Callable[[Window], QWidget]

TALK = (
    *READY,
    *spoken_turn(1, "What time is it?", "It is twenty-five past ten."),
    *spoken_turn(
        2,
        "Tell me about the metronome",
        "It was patented in 1815, though Winkel built the first one.",
        heard="It was patented",
        ending=api.Ending.INTERRUPTED_BY_SPEECH,
    ),
    *lacking_turn(3, "Who wrote Hamlet?"),
    *measurements(3),
)
FAULTS = (
    api.Failed("device", "The microphone was unplugged.", "Plug it in.", part=api.Part.MICROPHONE),
    api.Failed("model", "The model folder is half there.", "Fetch it again."),
)
KEPT = api.ConversationsListed(
    "",
    (
        api.KeptConversation(1, "The metronome", 1_795_300_000.0, 1_795_300_060.0, 4),
        api.KeptConversation(2, "Pancakes", 1_795_200_000.0, 1_795_200_060.0, 1, "two eggs and"),
    ),
    more=True,
    current=1,
)
VOICES = api.VoicesListed(
    (
        api.VoiceEntry("Anton", own=True, used="2026-11-22"),
        api.VoiceEntry("Grandma", False, 9.4, 38.0, ("rubato-starter",), again=True, pace=3.5),
        api.VoiceEntry("Captain", made_for=("voxtream2",), usable=False, why_not="For voxtream2."),
    ),
    ("Aunt Erna",),
    ("Anton", "Grandma"),
)
COMPARED = (
    api.Compared(
        "starter", "VoXtream2", api.ComparisonState.DONE, "Anton", 303.4, 2, 0.17, 3.1, 3.7, 0.0
    ),
    api.Compared(
        "smlle", "SMLLE", api.ComparisonState.SPEAKING, "Ada", 104.0, 1, 0.21, 4.2, 1.2, 0.0
    ),
    api.Compared("llmvox", "LLMVoX"),
    api.Compared(
        "kokoro", "Kokoro", api.ComparisonState.ABSENT, note="Kokoro is not on this machine."
    ),
)
CLIP = api.ClipInspected(
    Path("my grandmother.flac"),
    24.4,
    -21.0,
    -58.0,
    usable=True,
    advice="A part of it is better.",
    better=(3.0, 8.0),
)


BOOK = (
    api.Chapter(
        "Act I. Scene I",
        (
            api.Paragraph("Act I. Scene I", "heading"),
            api.Paragraph("Elsinore. A platform before the castle."),
            *[api.Paragraph("Who's there? Nay, answer me. Stand and unfold yourself. " * 6)] * 6,
        ),
    ),
    api.Chapter("Act I. Scene II", ()),
)
OPENED = api.DocumentOpened(
    "key", "Hamlet", "William Shakespeare", "en", tuple(e.title for e in BOOK), api.Place(0, 1, 4)
)
DOCUMENTS = (
    api.ReadDocument(
        "a", "Hamlet", "", Path("hamlet.epub"), api.Place(), 0.0, "Act I. Scene I", 20
    ),
    api.ReadDocument("b", "Attention", "", Path("paper.pdf"), api.Place(2), 0.0, "Training", 7),
)


def _settled(window: Window) -> None:
    tell(window, api.SettingChanged("window.first_start", 5))


def _talk(window: Window) -> QWidget:
    _settled(window)
    tell(
        window,
        *TALK,
        api.PhaseChanged(4, api.Phase.SPEAKING),
        api.Notice("Timer set for ten minutes."),
    )
    return window


def _edited(window: Window) -> QWidget:
    _talk(window)
    window.conversation.tools.edit.click()
    return window


def _signs(window: Window) -> QWidget:
    """Faults, and the signs that it records and keeps nothing."""
    _talk(window)
    tell(window, *FAULTS)
    tell(window, api.ConversationOpened(None, private=True))
    turn = spoken_turn(7, "And now?", "Nothing of this is kept.")
    tell(window, *turn)
    return window


def _welcome(window: Window) -> QWidget:
    _settled(window)
    tell(window, *READY)
    return window


def _clip(window: Window) -> QWidget:
    _talk(window)
    tell(window, CLIP)
    window.side.voices.sheet.consent.agreed.setChecked(True)
    if window.header.details.isVisible():
        window.header.details.setChecked(True)
    return window


def _history(window: Window) -> QWidget:
    _talk(window)
    tell(window, api.SettingChanged("history.keep", "forever"))
    window.header.history.setChecked(True)
    tell(window, KEPT)
    return window


def _history_asks(window: Window) -> QWidget:
    _settled(window)
    window.header.history.setChecked(True)
    return window


def _history_removes(window: Window) -> QWidget:
    _history(window)
    window.history.rows.item(1).setSelected(True)
    window.history.rows.removal_asked.emit()
    QApplication.processEvents()
    return window.history.findChild(QMessageBox)


def _first_step(number: int) -> Open:
    def show(window: Window) -> QWidget:
        tell(window, *READY, LIBRARY[0], api.SettingChanged("window.first_start", number))
        return window

    return show


def _settings(number: int) -> Open:
    def show(window: Window) -> QWidget:
        tell(window, *READY)
        dialog = window.open_settings(None)
        for index, key in enumerate(("language_model.engine", "recogniser.engine")):
            tell(window, api.SettingChanged(key, ("server", "whisper")[index]))
        dialog.tabs.setCurrentIndex(number)
        return dialog

    return show


def _voices(window: Window) -> QWidget:
    tell(window, *READY)
    page = window.side.voices.open_page()
    tell(window, VOICES)
    page.record.click()
    return page


def _voices_mixed(window: Window) -> QWidget:
    page = _voices(window)
    assert isinstance(page, VoicesPage)
    page.recorder.leave.click()
    page.mix.click()
    return page


def _comparison(window: Window) -> QWidget:
    """With a table as it grows; what it would start is not there."""
    tell(window, *READY)
    page = window.side.voices.open_page().comparison
    page.open_beside()
    for row in COMPARED:
        page.table.show_row(row)
    QApplication.processEvents()
    return page


def _models(window: Window) -> QWidget:
    tell(window, *READY)
    page = window.models.open()
    tell(window, *LIBRARY)
    return page


def _documents(window: Window) -> QWidget:
    tell(window, *READY)
    page = window.reading.open()
    tell(window, api.DocumentsListed(DOCUMENTS))
    return page


def _reading(window: Window) -> QWidget:
    """An open document that is read aloud."""
    tell(window, *READY, OPENED, api.ChapterShown("key", 0, BOOK[0]))
    tell(window, api.ReadingChanged(aloud=True))
    return window.reading.open()


def _keys(window: Window) -> QWidget:
    card = KeysCard(window.talk_key.label, window)
    card.show()
    return card


def _about(window: Window) -> QWidget:
    """With nothing collected: what it would start is not there."""
    page = AboutPage(window, (str(Path(__file__).with_name("nobody")),))
    page.open_beside()
    return page


PAGES: dict[str, Open] = {
    "talk": _talk,
    "question edited": _edited,
    "signs": _signs,
    "welcome": _welcome,
    "clip": _clip,
    "history": _history,
    "history asks": _history_asks,
    "history removes": _history_removes,
    **{f"first start {number + 1}": _first_step(number) for number in range(4)},
    **{
        f"settings {page.title.lower()}": _settings(number)
        for number, page in enumerate(SETTINGS_PAGES)
    },
    "voices": _voices,
    "voices mixed": _voices_mixed,
    "comparison": _comparison,
    "models": _models,
    "documents": _documents,
    "reading": _reading,
    "about": _about,
    "keys": _keys,
}


def seen(root: QWidget) -> list[QWidget]:
    """The widgets of a page that are in sight or would be after scrolling."""
    return [
        each
        for each in root.findChildren(QWidget)
        if each.isVisible() and each.window() is root.window()
    ]


def words_of(widget: QWidget) -> str:
    """How a failed test names a widget."""
    text = widget.text() if isinstance(widget, QAbstractButton) else ""
    return f"{type(widget).__name__} “{widget.accessibleName() or text}”"
