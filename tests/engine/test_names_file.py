import os
import stat

import pytest

from engine import names_file
from engine.errors import InvalidInput, SettingsError
from engine.names_file import add, in_force, load, remove
from engine.text.names import MOST, Name, read, written_out


@pytest.fixture(autouse=True)
def own_list(tmp_path, monkeypatch):
    monkeypatch.setenv("RUBATO_CONFIG", str(tmp_path))
    return tmp_path / names_file.FILE


def test_the_newest_name_replaces_the_one_that_is_written_alike_in_the_same_language(own_list):
    add([Name("Siobhan", "shi-VAWN"), Name("Paris")])
    add([Name("SIOBHAN", "shuh-VAWN"), Name("Paris", "pah-REE", "fr")])
    assert load() == in_force()
    assert in_force() == (
        Name("Paris"),
        Name("SIOBHAN", "shuh-VAWN"),
        Name("Paris", "pah-REE", "fr"),
    )
    assert stat.S_IMODE(own_list.stat().st_mode) == 0o600 or os.name == "nt"
    assert remove("paris", "fr") == (Name("Paris", "pah-REE", "fr"),)
    assert remove("paris") == (Name("Paris"),)
    assert remove("paris") == ()


def test_a_change_by_another_program_is_in_force_at_once(own_list):
    assert in_force() == ()
    own_list.write_text("Niamh\tneev\n", encoding="utf-8")
    assert in_force() == (Name("Niamh", "neev"),)
    own_list.write_text("Niamh\tneev\nAoife\tEE-fuh\n", encoding="utf-8")
    assert in_force() == (Name("Niamh", "neev"), Name("Aoife", "EE-fuh"))


@pytest.mark.parametrize(
    "text",
    [
        "# from me\nJosé\tho-ZAY\nZoë\nParis\tpah-REE\tfr\n",
        "\ufeffWritten,Said,Language\r\nJosé,ho-ZAY\r\nZoë,,\r\n\r\nParis,pah-REE,FR\r\n",
        'Name;Said\n"José";ho-ZAY\nZoë;\nParis; pah-REE ;fr',
        "# from me\n\nname,said\nJosé,ho-ZAY\nZoë\nParis,pah-REE,fr\n",
    ],
)
def test_lists_of_other_programs_are_read(text):
    names = (Name("José", "ho-ZAY"), Name("Zoë"), Name("Paris", "pah-REE", "fr"))
    assert read(text) == names
    assert read(written_out(names)) == names


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("Zoë\tzoh-ee\tde", "'de' is not a language"),
        ("…\tdots", "A name has letters"),
        ("a" * 61, "at most 60"),
        ("Xi\t/ʃ3/", "'3' is not a phone"),
        ("Xi\t" + "la-" * 50, "at most 120"),
        ("a\tb\ten\td", "4 columns"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_changed(row, reason, own_list):
    with pytest.raises(InvalidInput, match=f"Line 2: .*{reason}"):
        read(f"Anna\n{row}\n")
    own_list.write_text(f"Anna\n{row}\n", encoding="utf-8")
    before = own_list.read_bytes()
    with pytest.raises(InvalidInput, match=f"{names_file.FILE}: Line 2: "):
        add([Name("Bea")])
    assert own_list.read_bytes() == before
    assert in_force() == (Name("Anna"),)


def test_a_list_has_bounds(own_list):
    with pytest.raises(InvalidInput, match=f"more than {MOST}"):
        read("".join(f"name {number}\n" for number in range(MOST + 1)))
    own_list.write_bytes(b"a" * (names_file.LARGEST_BYTES + 1))
    assert in_force() == ()
    with pytest.raises(SettingsError, match="larger"):
        load()
    own_list.write_bytes(b"\xff\xfe\x00a")
    assert in_force() == ()


def test_a_name_with_the_sign_of_a_comment_stays_in_the_list(own_list):
    add([Name("#MeToo", "mee-TOO"), Name("# 1 Fan")])
    assert load() == (Name("MeToo", "mee-TOO"), Name("1 Fan"))
    assert remove("#metoo") == (Name("MeToo", "mee-TOO"),)


def test_a_said_form_has_no_unchecked_phones(own_list):
    assert add([Name("Foo", "a‖ʘ")]) == (Name("Foo", "a ʘ"),)


def test_signs_that_nobody_sees_are_no_part_of_a_name():
    add([Name(" Zoe\u0308 \u200b\n", "zoh\tee")])
    assert in_force() == (Name("Zoë", "zoh ee"),)
