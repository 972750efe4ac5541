"""Pictures of the window in use, from scripted events: light and dark, wide and narrow, sharp.

Run: QT_QPA_PLATFORM=offscreen python tests/benchmarks/screenshots.py FOLDER [RATIO [LANGUAGE]]
(RATIO is the device pixel ratio, default 1; it has to be set before Qt starts, hence one a run.
Look at 1 and 2, and at every language. Sentences of the engine stay English here.)
"""

import os
import sys
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
os.environ["QT_SCALE_FACTOR"] = sys.argv[2] if len(sys.argv) > 2 else "1"

from dataclasses import replace

from PySide6.QtCore import QElapsedTimer
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget

from app.look.theme import Mode, Theme
from app.program import install_language, make_application
from app.window import Window
from engine.api import (
    ClipInspected,
    Compared,
    ComparisonState,
    ConversationsListed,
    Ending,
    Event,
    Failed,
    Heard,
    KeptConversation,
    Loading,
    Notice,
    Part,
    PartialTranscript,
    Phase,
    PhaseChanged,
    Settings,
    TimersChanged,
    TimerSet,
    VoiceEntry,
    VoicesListed,
)
from tests.help.fakes.engine import (
    LIBRARY,
    READY,
    lacking_turn,
    measurements,
    speaking_turn,
    spoken_turn,
)

SIZES = {"wide": (1000, 700), "square": (640, 640), "narrow": (480, 640), "large": (1600, 1200)}
PAGES = {"wide": (620, 640), "square": (620, 620), "narrow": (460, 620), "large": (900, 1000)}
TALK = (
    *spoken_turn(1, "What time is it?", "It is twenty-five past ten in the morning."),
    *spoken_turn(
        2,
        "Tell me something long about the history of the metronome, please, I have a little time",
        "The metronome was patented by Johann Maelzel in 1815, though Dietrich Winkel had built "
        "the first one. Beethoven was among the first to print its numbers in his scores, and "
        "players have argued about them ever since.",
        heard="The metronome was patented by Johann Maelzel in 1815, though",
        ending=Ending.INTERRUPTED_BY_SPEECH,
    ),
    *speaking_turn(
        3,
        "Convert ten miles to kilometres",
        "Ten miles are about 16.1 kilometres. That is a comfortable two hours on foot for most "
        "people, or forty minutes on a bicycle.",
        word="comfortable",
    ),
    *measurements(3),
)


ROUNDS = 5  # of layouts that ask for another one


def settle(milliseconds: int) -> None:
    """Let the window lay itself out, however slow the machine is, and the orb move."""
    timer = QElapsedTimer()
    timer.start()
    while timer.elapsed() < milliseconds:
        QApplication.processEvents()
    for _ in range(ROUNDS):
        QApplication.processEvents()


SETTLED = replace(Settings(), window=replace(Settings().window, first_start=99))


def fresh(
    theme: Theme, size: str, events: tuple[Event, ...], settings: Settings = SETTLED
) -> Window:
    window = Window(settings, lambda command: None, theme)
    window.resize(*SIZES[size])
    window.show()
    trace = window.stage.rate.trace
    now = trace.clock()
    for number, event in enumerate(events):
        trace.clock = partial(float, now + number * 0.5)
        window.on_event(event)
    settle(300)
    return window


CLIP = (
    ClipInspected(
        Path("my grandmother reading.flac"),
        12.4,
        -21.0,
        -58.0,
        usable=True,
        advice="A good recording.",
    ),
)
FAULTS = (
    Failed(
        "device",
        "The microphone was unplugged.",
        "Plug it in again or choose another one; typing works meanwhile.",
        part=Part.MICROPHONE,
    ),
    Failed("model", "The model folder is half there.", "Fetch it again."),
)
DOWN = tuple(
    Failed(code, message, hint, part=part)
    for part, code, message, hint in (
        (Part.MICROPHONE, "no-microphone", "No microphone was found.", "Plug one in."),
        (Part.LOUDSPEAKER, "no-loudspeaker", "No loudspeaker was found.", "Plug one in."),
        (Part.RECOGNISER, "no-recogniser", "No recogniser could start.", "Run make run again."),
        (Part.LANGUAGE_MODEL, "no-model", "The model file is gone.", "Choose another one."),
        (Part.SYNTHESISER, "no-voice", "No voice could start.", "Install espeak-ng."),
    )
)
MARKED_UP = """## Pancakes for four

You need **flour**, *milk* and two eggs:

1. Whisk `250 g` of flour with half a litre of milk.
2. Add the eggs, a pinch of salt.
   - Let it rest for ten minutes.
3. Fry in butter. See [the recipe](https://example.org/pancakes).

> A hot pan is everything.

```python
for pancake in stack:
    eat(pancake)
```"""
WRITTEN = (
    *spoken_turn(1, "How do I make pancakes?", MARKED_UP),
    Heard(2, "And waffles, in one sentence?", 1.0, "keyboard"),
    *spoken_turn(
        2,
        "And waffles, in one sentence?",
        "Whisk flour, eggs, milk and butter, and bake them in a hot iron until they are golden.",
        heard="Whisk flour, eggs,",
        ending=Ending.INTERRUPTED_BY_TEXT,
    )[1:],
    *spoken_turn(3, "Thank you", "You are welcome."),
)
KEPT = ConversationsListed(
    "",
    tuple(
        KeptConversation(number, title, 1_795_300_000.0, 1_795_300_000.0 - number * 86_000, 4)
        for number, title in enumerate(
            ("What time is it?", "How do I make pancakes?", "Convert ten miles to kilometres")
        )
    ),
    more=False,
    current=0,
)
RINGING = (
    TimersChanged(
        (
            TimerSet(time.time() - 5, "tea", "Tea.", 1, seconds=300, rang_at=time.time() - 5),
            TimerSet(time.time() + 250, "eggs", "Eggs.", 2, seconds=300),
        )
    ),
)
LOADING = (
    *READY[:2],
    Loading(Part.RECOGNISER, "Loading sphinx"),
    Loading(Part.SYNTHESISER, "Loading", 0.6),
)
DONE = ComparisonState.DONE
COMPARED = (
    Compared("starter", "VoXtream2", DONE, "Anton", 303.4, 2, 0.17, 3.1, 3.7, 0.0),
    Compared("voxtream", "VoXtream", DONE, "Ada", 152.9, 1, 0.17, 3.9, 3.1, 120.0),
    Compared("speakstream", "SpeakStream", DONE, "Ada", 510.2, 4, 0.20, 4.0, 3.0, 0.0),
    Compared("llmvox", "LLMVoX", ComparisonState.SPEAKING, "Ada", 297.5, 2, 0.22, 3.6, 1.2, 0.0),
    Compared("smlle", "SMLLE"),
    Compared("espeak", "eSpeak NG"),
    Compared(
        "kokoro",
        "Kokoro",
        ComparisonState.ABSENT,
        note="Kokoro is not on this machine. Fetch it with: rubato models get kokoro",
    ),
)
VOICES = VoicesListed(
    (
        VoiceEntry("Anton", own=True, used="2026-11-22"),
        VoiceEntry("Bruno", own=True),
        VoiceEntry("Grandma", False, 9.4, 38.0, ("rubato-starter",), again=True, pace=3.5),
        VoiceEntry(
            "Captain", False, None, None, ("voxtream2",), False, "It was made for voxtream2."
        ),
    ),
    ("Aunt Erna",),
)
PARTIAL = (PhaseChanged(4, Phase.LISTENING), PartialTranscript(4, "how long would it take by"))


def save(widget: QWidget, name: str) -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    widget.grab().save(str(folder / f"{name}.png"))


def save_menu(window: Window, name: str) -> None:
    menu = window.header.more.menu()
    menu.popup(window.mapToGlobal(window.rect().center()))
    settle(50)
    save(menu, name)
    menu.close()


def talking(theme: Theme, size: str) -> None:
    window = fresh(theme, size, READY + TALK + CLIP)
    window.stage.rate.slider.show_rate(4.0)
    window.on_event(Notice("Timer set for ten minutes."))
    settle(200)
    save(window, f"{theme.mode.value}-{size}")
    save_menu(window, f"{theme.mode.value}-{size}-more")
    if size == "narrow":
        window.header.details.setChecked(True)
        settle(100)
        save(window, f"{theme.mode.value}-{size}-details")
    window.deleteLater()


def other_states(theme: Theme) -> None:
    window = fresh(theme, "wide", LOADING)
    save(window, f"{theme.mode.value}-loading")
    window.deleteLater()
    window = fresh(theme, "narrow", READY + TALK[:11] + PARTIAL + FAULTS)
    save(window, f"{theme.mode.value}-narrow-fault")
    for part in (Part.LANGUAGE_MODEL, Part.MICROPHONE):
        dialog = window.open_settings(part)
        settle(200)
        save(dialog, f"{theme.mode.value}-settings-{part.value.split()[0]}")
    page = window.side.voices.open_page()
    window.on_event(VOICES)
    settle(200)
    save(page, f"{theme.mode.value}-voices")
    window.deleteLater()


def comparison(theme: Theme) -> None:
    """All systems, while they speak; on a small screen too."""
    window = fresh(theme, "wide", READY)
    page = window.side.voices.open_page().comparison
    page.open_beside()
    for row in COMPARED:
        page.table.show_row(row)
    for name, size in {"wide": (620, 640), "low": (640, 432)}.items():
        page.resize(*size)
        settle(200)
        save(page, f"{theme.mode.value}-comparison-{name}")
    window.deleteLater()


def models(theme: Theme, size: str) -> None:
    """The page of models as on a small machine, in the middle of a fetch; and the door to it."""
    wanted = (
        *READY,
        *spoken_turn(1, "What time is it?", "It is twenty-five past ten in the morning."),
        *lacking_turn(2, "Who wrote Hamlet?"),
    )
    window = fresh(theme, size, wanted)
    save(window, f"{theme.mode.value}-{size}-door")
    page = window.models.open()
    page.resize(*(PAGES[size]))
    for event in LIBRARY:
        window.on_event(event)
    settle(200)
    save(page, f"{theme.mode.value}-{size}-models")
    area = page.findChild(QScrollArea)
    assert area is not None
    bar = area.verticalScrollBar()
    bar.setValue(bar.maximum() * 2 // 3)
    settle(100)
    save(page, f"{theme.mode.value}-{size}-models-lower")
    window.deleteLater()


def beginnings(theme: Theme, size: str) -> None:
    """Before the first word: starting, ready, broken, the first start; a clip, kept talks, a timer
    that rings.
    """
    states = {
        "starting": LOADING,
        "empty": READY,
        "broken": DOWN,
        "marked-up": READY + WRITTEN,
        "ringing": READY + WRITTEN + RINGING,
    }
    for name, events in states.items():
        window = fresh(theme, size, events)
        save(window, f"{theme.mode.value}-{size}-{name}")
        window.deleteLater()
    window = fresh(theme, size, READY, Settings())
    save(window, f"{theme.mode.value}-{size}-first-start")
    window.deleteLater()
    window = fresh(theme, size, READY + TALK[:12])
    window.header.history.setChecked(True)
    window.on_event(KEPT)
    settle(100)
    save(window, f"{theme.mode.value}-{size}-history")
    window.header.history.setChecked(False)
    window.composer.type("A message that goes on and on, as one does that was pasted. " * 4)
    window.side.voices.add_file(CLIP[0].clip)
    window.on_event(replace(CLIP[0], advice="A good recording."))
    window.header.details.setChecked(size == "narrow")
    settle(100)
    save(window.side.voices.sheet, f"{theme.mode.value}-{size}-clip")
    window.deleteLater()


def settings(theme: Theme) -> None:
    window = fresh(theme, "wide", READY)
    dialog = window.open_settings(None)
    for number in range(dialog.tabs.count()):
        dialog.tabs.setCurrentIndex(number)
        settle(50)
        save(dialog, f"{theme.mode.value}-settings-{number}")
    window.deleteLater()


def main() -> None:
    application = make_application()
    install_language(application, sys.argv[3] if len(sys.argv) > 3 else "en")
    theme = Theme(Mode.DARK, application)
    for mode in (Mode.DARK, Mode.LIGHT):
        theme.choose(mode)
        for size in SIZES:
            talking(theme, size)
            models(theme, size)
            beginnings(theme, size)
        other_states(theme)
        comparison(theme)
        settings(theme)


if __name__ == "__main__":
    main()
