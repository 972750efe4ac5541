"""Texts: every slot is filled, and prose is clean."""

import random
import re
from pathlib import Path

from engine.training.corpus import grammar, prose


def test_every_slot_of_every_template_is_filled() -> None:
    draw = random.Random(1)
    for _ in range(300):
        for text in (
            grammar.sentence(draw),
            grammar.test_sentence(draw),
            grammar.short_reply(draw),
        ):
            assert re.fullmatch(r"[A-Z][A-Za-z ,.!?'-]+[.!?]", text), text


def test_prose_is_taken_from_files_and_docstrings_as_clean_sentences(tmp_path: Path) -> None:
    texts = {
        "doc.txt": "The cat sat on the mat. It costs $5 to use foo().\n\nThis is fine, I think.",
        "module.py": '"""Words are kept in a small list."""\nx = "This is no docstring at all."\n',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert prose.sentences([tmp_path / name for name in texts]) == [
        "The cat sat on the mat.",
        "This is fine, I think.",
        "Words are kept in a small list.",
    ]
