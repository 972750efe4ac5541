from datetime import datetime

import pytest

from engine.llm.base import Message, Role, TextDelta
from engine.llm.skills import Skills
from engine.llm.skills.reading import MAX_FILE_BYTES


@pytest.fixture
def documents(tmp_path):
    folder = tmp_path / "Documents"
    folder.mkdir()
    return folder


@pytest.fixture
def pieces(documents):
    """pieces(said): the answer as it is given out."""
    skills = Skills(now=lambda: datetime(2026, 1, 5), documents=documents)

    def answer(said: str) -> list[str]:
        deltas = skills.reply([Message(Role.USER, said)], pytest.fail)
        return [delta.text for delta in deltas if isinstance(delta, TextDelta)]

    return answer


@pytest.fixture
def ask(pieces):
    return lambda said: "".join(pieces(said))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("notes.txt", "read the file notes.txt"),
        *(("Shopping_List.md", said) for said in (
            "read the file shopping list", "read the shopping list file", "Read Shopping_List.md")),
        ("work/plan.txt", "read the file work slash plan dot txt"),
        ("../elsewhere.txt", "read the file {tmp_path}/elsewhere.txt"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("content", ["Buy milk.\nCall Anna.\n", "Caf\u00e9"])
def test_a_file_is_found_by_its_spoken_name_and_read(ask, documents, tmp_path, name, said, content):
    (documents / "work").mkdir()
    old_editor = "cp1252" if content == "Caf\u00e9" else "utf-8"
    (documents / name).write_text(content, encoding=old_editor)

    assert ask(said.format(tmp_path=tmp_path)) == content.strip()


@pytest.mark.parametrize(
    "said",
    [
        "read the file ../secret.txt", "read the file link.txt", "read the file work/secret.txt",
        "read the file notes", "read the notes file", "read notes.md",
    ],
)  # fmt: skip
def test_nothing_outside_the_documents_is_read(ask, documents, tmp_path, said):
    """By a name, a link to a file, a folder that is a link, or a name that is spoken."""
    (tmp_path / "private").mkdir()
    for secret in (tmp_path / "secret.txt", tmp_path / "private" / "secret.txt"):
        secret.write_text("Secret.", encoding="utf-8")
    (documents / "link.txt").symlink_to(tmp_path / "secret.txt")
    (documents / "notes.md").symlink_to(tmp_path / "secret.txt")
    (documents / "work").symlink_to(tmp_path / "private")

    assert "outside your documents" in ask(said)


def test_a_link_inside_the_documents_is_read(ask, documents):
    (documents / "notes of monday.txt").write_text("Buy milk.", encoding="utf-8")
    (documents / "today.txt").symlink_to(documents / "notes of monday.txt")
    assert ask("read the file today") == "Buy milk."


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.txt", b"  \n", "is empty"),
        ("picture.png", b"\x89PNG", "not a text file"),
        ("binary.txt", b"a\0b", "not a text file"),
        ("long.txt", b"x" * (MAX_FILE_BYTES + 1), "too long"),
        ("folder.txt", None, "not a file"),
        ("{documents}/folder.txt", None, "not a file"),
        ("nothing.txt", None, "can't find nothing.txt"),
        ("/nowhere/nothing.txt", None, "no file nothing.txt"),
        ("x" * 280 + ".txt", None, "could not open"),
        ("~nosuchperson/x.txt", None, "nobody called nosuchperson"),
        ("//server/share/notes.txt", None, "I only read files on this computer."),
    ],
)
def test_a_file_that_cannot_be_read_aloud_is_explained(ask, documents, name, content, words):
    (documents / "folder.txt").mkdir()
    if content is not None:
        (documents / name).write_bytes(content)

    assert words in ask(f"read the file {name.format(documents=documents)}")


def test_a_long_text_is_read_to_its_end_in_pieces(pieces):
    text = "One more sentence here. " * 500
    read = pieces(f"read this text: {text}")
    assert "".join(read) == text.strip()
    assert len(read) > 10
