"""Documents by voice: find a file of the user's, and direct the reading ("next chapter", "back",
"stop reading").

Invariant: only files of the documents folder or under a full path from the user are named; no tool
lets a language model read a file. Without an open document, no request about one is meant.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePath

from engine.llm.base import AssistantState
from engine.llm.skills.matching.fillings import is_name
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots
from engine.llm.skills.matching.repertoire import repertoire, wished
from engine.llm.skills.window import fitted
from engine.messages.reading import (
    DOCUMENT_SUFFIXES,
    OpenDocument,
    PauseReading,
    Place,
    ReadAloud,
    SkipReading,
    Unit,
)

_SPOKEN_MARKS = (
    (re.compile(r"\s+dot\s+", re.IGNORECASE), "."),
    (re.compile(r"\s*\bslash\b\s*", re.IGNORECASE), "/"),
    (re.compile(r"\s*\bunderscore\b\s*", re.IGNORECASE), "_"),
)
_EDGES = " \t\n:,\"'\u201c\u201d\u2018\u2019"
_NETWORK_PATH = ("\\\\", "//")  # opening one would contact another machine


# "https://…", "www.…", "example.org/page", also as it is spoken.
_ADDRESS = re.compile(
    r"(?:https?:|www\b)\S*|(?:[\w-]+\.)+(?:com|org|net|edu|gov|io|de|fr|uk|eu|info|ch|at|ai|dev)"
    r"(?:[/?#:]\S*)?",
    re.IGNORECASE,
)


def read_file(slots: Slots, context: SkillContext) -> Answer | None:
    """Open the file, or say in private why it is not found, with folders; None if this is neither a
    file nor the name of one ("the file that I wrote yesterday").
    """
    name = _file_name(slots["file"])
    path = PurePath(name)
    is_file = re.match(r"\.\w+$", path.suffix) or len(path.parts) > 1 or is_name(_plain(name))
    if not is_file and _in_documents(name, context.documents) is None:
        return None
    try:
        found = _locate(name, context.documents)
    except (OSError, ValueError, RuntimeError):  # an impossible name, or an unknown ~person
        found = f"I could not open {PurePath(name).name}."
    if isinstance(found, str):
        return Answer(found, private=True)
    return Answer(actions=(OpenDocument(found, aloud=True),))


def decline_web_page(slots: Slots, context: SkillContext) -> Answer | None:
    """Decline to read a web page; None if this is not the address of one."""
    address = _file_name(slots["address"])
    meant = _ADDRESS.fullmatch(address.replace(" ", ""))
    return Answer(fitted("I can't open web pages[; paste the text].", context)) if meant else None


def read_named_file(slots: Slots, context: SkillContext) -> Answer | None:
    """Read "notes.txt": only if the name looks like that of a file."""
    if re.search(r":\s", slots["file"]):  # "read this text: …"
        return None
    path = PurePath(_file_name(slots["file"]))
    is_document = path.suffix.lower() in DOCUMENT_SUFFIXES
    looks_like_file = is_document or path.is_absolute() or "~" in path.parts
    return read_file(slots, context) if looks_like_file else None


def _file_name(said: str) -> str:
    name = said.strip(_EDGES).rstrip("!?.").strip(_EDGES)
    for pattern, mark in _SPOKEN_MARKS:
        name = pattern.sub(mark, name)
    return name


def _locate(name: str, documents: Path) -> Path | str:
    """Return the file of a full path, or inside the documents folder; else why it is not read."""
    if name.startswith(_NETWORK_PATH):
        return "I only read files on this computer."
    given = Path(name).expanduser()
    if given.is_absolute():
        if not given.exists():
            return f"There is no file {given.name} in {given.parent}."
        return given
    found = _in_documents(name, documents)
    if found is None:
        return f"I can't find {name} in {documents}. Put the file there, or type its full path."
    if not found.resolve().is_relative_to(documents.resolve()):
        return "That file is outside your documents. Type its full path to hear it."
    return found


def _in_documents(name: str, documents: Path) -> Path | None:
    inside = documents / name
    if inside.is_file():
        return inside
    if not documents.is_dir() or len(PurePath(name).parts) != 1:
        return None
    wanted = {_plain(name), _plain(PurePath(name).stem)}
    candidates = (path for path in documents.iterdir() if path.suffix.lower() in DOCUMENT_SUFFIXES)
    matches = [path for path in candidates if {_plain(path.name), _plain(path.stem)} & wanted]
    return min(matches, default=None)


def _plain(name: str) -> str:
    """Return a name for comparing by ear: "Shopping_list" is "shopping list"."""
    return re.sub(r"[\s_-]+", " ", name).casefold().strip()


WHILE_READING = AssistantState(rate=None, volume=1.0, voice="", voices=(), reading="document")

Wish = ReadAloud | PauseReading | SkipReading
_ORDERS: Mapping[str, Wish] = {
    "go on": ReadAloud(),
    "begin again": ReadAloud(Place()),
    "pause": PauseReading(),
}


def skip(slots: Slots, context: SkillContext) -> Answer | None:
    """Skip `many` parts ("sentence", "paragraph", "chapter") in the direction `way`."""
    count = int(slots.get("many", "1")) * (1 if slots["way"] == "on" else -1)
    return _act(SkipReading(Unit(slots["part"]), count), context)


def skip_bare(slots: Slots, context: SkillContext) -> Answer | None:
    """Skip only right after the reading: see reading_wish()."""
    return skip(slots, context) if context.state() is WHILE_READING else None


def direct(slots: Slots, context: SkillContext) -> Answer | None:
    """Carry out the order `do`."""
    return _act(_ORDERS[slots["do"]], context)


def _act(wish: Wish, context: SkillContext) -> Answer | None:
    return Answer(actions=(wish,)) if context.state().reading else None


def reading_wish(said: str, *, bare: bool = True) -> Wish | None:
    """Return the request about the reading; None if the words say something else, or more. `bare`:
    they follow the reading, so words that do not name it ("back") mean it too.
    """
    asked = wished(said, _names(bare), WHILE_READING)
    return next((each for each in asked if isinstance(each, Wish)), None)


@cache
def _names(bare: bool) -> frozenset[str]:
    kinds = ("document: ", "bare document: ") if bare else ("document: ",)
    return frozenset(each.name for each in repertoire().intents if each.name.startswith(kinds))
