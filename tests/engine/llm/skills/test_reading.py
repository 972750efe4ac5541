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
def ask(documents):
    skills = Skills(now=lambda: datetime(2026, 1, 5), documents=documents)

    def say(text: str) -> str:
        deltas = skills.reply([Message(Role.USER, text)], pytest.fail)
        return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))

    return say


def test_a_file_in_the_documents_is_read(ask, documents):
    (documents / "notes.txt").write_text("Buy milk.\nCall Anna.\n", encoding="utf-8")

    assert ask("read the file notes.txt") == "Buy milk.\nCall Anna."


@pytest.mark.parametrize(
    "said", ["read the file shopping list", "read the shopping list file", "Read Shopping_List.md"]
)
def test_a_spoken_name_finds_the_file(ask, documents, said):
    (documents / "Shopping_List.md").write_text("Milk.", encoding="utf-8")

    assert ask(said) == "Milk."


def test_dot_and_slash_may_be_spoken(ask, documents):
    (documents / "work").mkdir()
    (documents / "work" / "plan.txt").write_text("Plan.", encoding="utf-8")

    assert ask("read the file work slash plan dot txt") == "Plan."


def test_a_full_path_is_read(ask, tmp_path):
    (tmp_path / "elsewhere.txt").write_text("Far away.", encoding="utf-8")

    assert ask(f"read the file {tmp_path}/elsewhere.txt") == "Far away."


def test_a_name_cannot_leave_the_documents(ask, tmp_path):
    (tmp_path / "secret.txt").write_text("Secret.", encoding="utf-8")

    assert "outside your documents" in ask("read the file ../secret.txt")


def test_a_link_cannot_leave_the_documents(ask, documents, tmp_path):
    (tmp_path / "secret.txt").write_text("Secret.", encoding="utf-8")
    (documents / "link.txt").symlink_to(tmp_path / "secret.txt")

    assert "outside your documents" in ask("read the file link.txt")


@pytest.mark.parametrize("said", ["read the file notes", "read the notes file", "read notes.md"])
def test_a_link_found_by_its_spoken_name_cannot_leave_the_documents(ask, documents, tmp_path, said):
    (tmp_path / "secret.txt").write_text("Secret.", encoding="utf-8")
    (documents / "notes.md").symlink_to(tmp_path / "secret.txt")

    assert "outside your documents" in ask(said)


def test_a_folder_that_is_a_link_cannot_leave_the_documents(ask, documents, tmp_path):
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "notes.txt").write_text("Secret.", encoding="utf-8")
    (documents / "work").symlink_to(tmp_path / "private")

    assert "outside your documents" in ask("read the file work/notes.txt")


def test_a_link_inside_the_documents_is_read(ask, documents):
    (documents / "notes of monday.txt").write_text("Buy milk.", encoding="utf-8")
    (documents / "today.txt").symlink_to(documents / "notes of monday.txt")

    assert ask("read the file today") == "Buy milk."


@pytest.mark.parametrize("said", ["read the file ~nosuchperson/x.txt", "read ~nosuchperson/x.txt"])
def test_a_home_of_nobody_is_explained(ask, said):
    assert "nobody called nosuchperson" in ask(said)


def test_a_network_path_is_refused(ask):
    assert ask("read the file //server/share/notes.txt") == "I only read files on this computer."


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.txt", b"  \n", "is empty"),
        ("picture.png", b"\x89PNG", "not a text file"),
        ("binary.txt", b"a\0b", "not a text file"),
        ("long.txt", b"x" * (MAX_FILE_BYTES + 1), "too long"),
    ],
)
def test_a_file_that_cannot_be_read_aloud_is_explained(ask, documents, name, content, words):
    (documents / name).write_bytes(content)

    assert words in ask(f"read the file {name}")


def test_a_folder_is_not_read(ask, documents):
    (documents / "folder.txt").mkdir()

    assert "not a file" in ask("read the file folder.txt")
    assert "not a file" in ask(f"read the file {documents}/folder.txt")


def test_a_missing_file_is_named(ask):
    assert "can't find nothing.txt" in ask("read the file nothing.txt")
    assert "no file nothing.txt" in ask("read the file /nowhere/nothing.txt")


def test_a_name_no_file_system_takes_is_survived(ask):
    assert "could not open" in ask("read the file " + "x" * 280 + ".txt")


def test_text_from_an_old_editor_is_read(ask, documents):
    (documents / "old.txt").write_bytes("Caf\u00e9".encode("cp1252"))

    assert ask("read the file old.txt") == "Caf\u00e9"


def test_a_long_text_is_read_to_its_end_in_pieces(documents):
    skills = Skills(now=lambda: datetime(2026, 1, 5), documents=documents)
    text = "One more sentence here. " * 500

    reply = skills.reply([Message(Role.USER, f"read this text: {text}")], pytest.fail)
    pieces = [delta.text for delta in reply if isinstance(delta, TextDelta)]

    assert "".join(pieces) == text.strip()
    assert len(pieces) > 10
