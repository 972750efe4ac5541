"""Long paragraphs in pieces, because laying out and reading a paragraph again for one more word
takes as long as the paragraph is.

Invariant: where a paragraph is cut depends only on the text up to LONGEST characters behind the
last cut, so that more text never moves a cut.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from app.conversation.reply.paragraph import Paragraph, Run, Shape

LEAST, LONGEST = 600, 1_200  # characters of a piece
# A sentence that begins with a letter: no mark of Markdown, even as the first word of a text.
_SENTENCE = re.compile(r"[.!?\u2026\u3002\uff01\uff1f]\S{0,2}\s+(?=[^\W\d_])")
_OPENS = re.compile(r"[*_`\[|]")  # left over: what they open may still be closed


def pieces(paragraph: Paragraph) -> list[Paragraph]:
    """The paragraph itself if it is short."""
    cuts = [0, *_cuts(paragraph), len(paragraph.text)]
    if len(cuts) == 2:
        return [paragraph]
    return [_piece(paragraph, start, end) for start, end in pairwise(cuts)]


def alone(several: list[Paragraph]) -> list[Paragraph]:
    """The pieces that would be read the same without those before them."""
    found = []
    for before, piece in pairwise(several):
        if piece.shape is Shape.CODE:
            begins_line = bool(before.origin) and piece.place > before.origin[-1] + 1
            is_alone = begins_line and not piece.text.startswith("\n")
        elif _OPENS.search(before.text):
            break
        else:
            styled = any(run.end == len(before.text) for run in before.runs)
            styled = styled or any(run.start == 0 for run in piece.runs)
            is_alone = not styled and piece.text[0].isalpha()
        if is_alone:
            found.append(piece)
    return found


def _cuts(paragraph: Paragraph) -> Iterator[int]:
    start, text = 0, paragraph.text
    while len(text) - start > LONGEST:
        window = text[start + LEAST : start + LONGEST]
        if paragraph.shape is Shape.CODE:
            at = window.rfind("\n") + 1
        else:
            ends = [found.end() for found in _SENTENCE.finditer(window)]
            at = ends[-1] if ends else window.rfind(" ") + 1
        start += LEAST + at if at else LONGEST
        yield start


def _piece(paragraph: Paragraph, start: int, end: int) -> Paragraph:
    if paragraph.shape is Shape.CODE and end < len(paragraph.text):
        end -= paragraph.text[end - 1] == "\n"  # the end of the piece ends the line
    inside = (
        Run(max(run.start, start) - start, min(run.end, end) - start, run.style)
        for run in paragraph.runs
        if run.start < end and run.end > start
    )
    origin = paragraph.origin[start:end]
    return replace(
        paragraph,
        text=paragraph.text[start:end],
        origin=origin,
        runs=tuple(inside),
        place=origin[0] if origin else paragraph.place,
        marked=paragraph.marked and not start,
        continues=paragraph.continues or start > 0,
    )
