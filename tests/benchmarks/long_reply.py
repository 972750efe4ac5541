"""Time of the window for one more word of a reply, and for one more word heard of it. A word that
comes less than 100 ms after another costs nothing: they are shown together.

Run: QT_QPA_PLATFORM=offscreen python tests/benchmarks/long_reply.py
Prints the median and the longest time of a word in milliseconds, for replies of several shapes.
"""

import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parents[2]))

from PySide6.QtWidgets import QApplication

from app.conversation.view import Conversation
from app.look.theme import Mode, Theme
from app.program import make_application
from engine.api import Event, Heard, ReplyDelta, WordHeard

LENGTHS = (100, 1_000, 5_000)  # words
LAST = 20  # words that are measured
SENTENCE = ("the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "again", "and")


def paragraphs(at: int) -> str:
    """Word `at` of a reply, with what follows it."""
    word = SENTENCE[at % len(SENTENCE)]
    return f"**{word}**.\n\n" if at % 80 == 79 else f"{word} "


def one_paragraph(at: int) -> str:
    return SENTENCE[at % len(SENTENCE)] + (". " if at % 12 == 11 else " ")


def steps(at: int) -> str:
    return ("" if at % 20 else f"\n{at // 20 + 1}. ") + SENTENCE[at % len(SENTENCE)] + " "


def code(at: int) -> str:
    return ("```python\n" if not at else "\n" if at % 8 == 0 else "") + f"word{at} "


def table(at: int) -> str:
    head = "" if at else "| a | b | c | d |\n|---|---|---|---|"
    return head + ("" if at % 4 else "\n| ") + SENTENCE[at % len(SENTENCE)] + " | "


SHAPES: tuple[Callable[[int], str], ...] = (paragraphs, one_paragraph, steps, code, table)


def milliseconds(view: Conversation, event: Event) -> float:
    """How long the window is busy with an event that it shows at once."""
    view._pause.stop()
    begin = perf_counter()
    view.on_event(event)
    QApplication.processEvents()
    return (perf_counter() - begin) * 1000


def measure(
    theme: Theme, shape: Callable[[int], str], words: int
) -> tuple[list[float], list[float]]:
    view = Conversation(theme, None)  # type: ignore[arg-type]
    view.resize(760, 600)
    view.show()
    view.on_event(Heard(1, "Tell me a long story", 0.9, "sphinx"))
    written = "".join(map(shape, range(words - LAST)))
    view.on_event(ReplyDelta(1, written))
    QApplication.processEvents()
    writing = [milliseconds(view, ReplyDelta(1, shape(words - LAST + at))) for at in range(LAST)]
    middle = len(written) // 2
    heard = [
        milliseconds(view, WordHeard(1, middle + at * 5, middle + at * 5 + 4)) for at in range(LAST)
    ]
    view.close()
    view.deleteLater()
    return writing, heard


def tell(name: str, words: str, *times: str) -> None:
    sys.stdout.write(f"{name:14}{words:>7}" + "".join(f"{each:>9}" for each in times) + "\n")


def main() -> None:
    theme = Theme(Mode.DARK, make_application())
    tell("milliseconds", "words", "written", "longest", "heard", "longest")
    for shape in SHAPES:
        for words in LENGTHS:
            both = measure(theme, shape, words)
            times = [value for each in both for value in (statistics.median(each), max(each))]
            tell(shape.__name__, str(words), *(f"{each:.1f}" for each in times))


if __name__ == "__main__":
    main()
