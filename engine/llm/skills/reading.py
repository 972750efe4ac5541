"""Read a file aloud.

Invariant: only regular, readable text files of bounded size are opened, and only in the documents
folder or under a full path from the user; no tool lets a language model read a file, and the text
of the file is marked private.
"""

import re
from pathlib import Path, PurePath

from engine.llm.skills import abilities
from engine.llm.skills.matching.fillings import is_name
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots
from engine.llm.skills.window import fitted

MAX_FILE_BYTES = 100_000  # nearly two hours of speech
SUFFIXES = (".txt", ".md", ".markdown", ".rst", ".text", ".log", ".csv", ".org", ".srt")

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


explain = abilities.explain


class _Refused(Exception):
    """A file is not read; the text is the reason, a sentence for the user."""


def read_file(slots: Slots, context: SkillContext) -> Answer | None:
    """Return the file's text, or the reason why it is not read; the reason names folders, so it is
    private as well. None if this is neither a file nor the name of one ("the file that I wrote
    yesterday").
    """
    name = _file_name(slots["file"])
    path = PurePath(name)
    is_file = re.match(r"\.\w+$", path.suffix) or len(path.parts) > 1 or is_name(_plain(name))
    if not is_file and _in_documents(name, context.documents) is None:
        return None
    try:
        text = _contents(_locate(name, context.documents))
    except _Refused as refused:
        text = str(refused)
    except (OSError, ValueError):  # ValueError: an impossible name
        text = f"I could not open {PurePath(name).name}."
    return Answer(text, private=True)


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
    looks_like_file = path.suffix.lower() in SUFFIXES or path.is_absolute() or "~" in path.parts
    return read_file(slots, context) if looks_like_file else None


def _file_name(said: str) -> str:
    name = said.strip(_EDGES).rstrip("!?.").strip(_EDGES)
    for pattern, mark in _SPOKEN_MARKS:
        name = pattern.sub(mark, name)
    return name


def _locate(name: str, documents: Path) -> Path:
    """Return the path of the file: a full path as it is, any other only inside the documents
    folder.
    """
    if name.startswith(_NETWORK_PATH):
        raise _Refused("I only read files on this computer.")
    try:
        given = Path(name).expanduser()
    except RuntimeError as error:
        raise _Refused(f"There is nobody called {PurePath(name).parts[0][1:]} here.") from error
    if given.is_absolute():
        if not given.exists():
            raise _Refused(f"There is no file {given.name} in {given.parent}.")
        return given
    found = _in_documents(name, documents)
    if found is None:
        raise _Refused(
            f"I can't find {name} in {documents}. Put the file there, or type its full path."
        )
    if not found.resolve().is_relative_to(documents.resolve()):
        raise _Refused("That file is outside your documents. Type its full path to hear it.")
    return found


def _in_documents(name: str, documents: Path) -> Path | None:
    inside = documents / name
    if inside.is_file():
        return inside
    if not documents.is_dir() or len(PurePath(name).parts) != 1:
        return None
    wanted = {_plain(name), _plain(PurePath(name).stem)}
    candidates = (path for path in documents.iterdir() if path.suffix.lower() in SUFFIXES)
    matches = [path for path in candidates if {_plain(path.name), _plain(path.stem)} & wanted]
    return min(matches, default=None)


def _plain(name: str) -> str:
    """Return a name in a form for comparing by ear: "Shopping_list" and "shopping list" are the
    same.
    """
    return re.sub(r"[\s_-]+", " ", name).casefold().strip()


def _contents(path: Path) -> str:
    if not path.is_file():
        raise _Refused(f"{path.name} is not a file I can read.")
    if path.suffix.lower() not in SUFFIXES:
        raise _Refused(f"{path.name} is not a text file. I read {', '.join(SUFFIXES[:3])} files.")
    with path.open("rb") as file:
        raw = file.read(MAX_FILE_BYTES + 1)
    if len(raw) > MAX_FILE_BYTES:
        raise _Refused(f"{path.name} is too long for me. I read up to {MAX_FILE_BYTES // 1000} kB.")
    if b"\0" in raw:
        raise _Refused(f"{path.name} is not a text file.")
    try:
        text = raw.decode("utf-8-sig").strip()
    except UnicodeDecodeError:  # the encoding of older Windows editors
        text = raw.decode("cp1252", errors="replace").strip()
    if not text:
        raise _Refused(f"{path.name} is empty.")
    return text
