"""Texts: enough of them, clean, and the tested ones apart."""

import random
import re
from pathlib import Path

from engine.training.corpus import grammar, prose
from engine.training.corpus.texts import make_texts, runs
from engine.training.recipe import Recipe


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


def test_no_training_text_shares_five_words_in_a_row_with_a_test_sentence(tiny: Recipe) -> None:
    listed = [f"The {a} {b} went over the hill to see it." for a in "abcdefgh" for b in "klmnopqr"]
    texts = make_texts(tiny, listed)
    draw = random.Random(3)
    tested = frozenset().union(*(runs(text) for text in texts.test))
    assert len(texts.test) == tiny.corpus.test_sentences
    assert not any(runs(text) & tested for text in texts.prose)
    assert not any(runs(texts.draw(draw, tiny.corpus)) & tested for _ in range(300))
