"""Markdown, by way of the HTML that it stands for."""

import re

from engine.reading.parsers import html
from engine.reading.parsers.blocks import Parsed

_FRONT_MATTER = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)\n", re.DOTALL)


def parse(text: str) -> Parsed:
    """Read a Markdown text. Its chapters begin at headings."""
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return html.parse(renderer.render(_FRONT_MATTER.sub("", text)))
