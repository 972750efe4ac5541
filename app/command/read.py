"""`rubato read`: read a document aloud, or save it as an audio book."""

import argparse
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.command.serve import is_caller_there
from app.command.terminal import (
    ShareLine,
    answer,
    as_json,
    own_settings,
    tell,
    with_failure,
    write,
)
from engine import api

if TYPE_CHECKING:
    from engine.api import Document, Paragraph, Place, ReadingOptions


def add_command(commands: Any) -> None:  # Any: argparse names this type only privately
    """Add `read` to the command line."""
    read = commands.add_parser("read", help="read a document aloud, from where it was left")
    read.add_argument("file", type=Path, help="EPUB, PDF, HTML, Markdown, DOCX or text")
    read.add_argument("--from", dest="start", metavar="CHAPTER", help="its number or title")
    read.add_argument("--to", dest="end", metavar="CHAPTER", help="with --output: the last one")
    read.add_argument("--rate", type=float, metavar="SPS", help="syllables per second, 1 to 13")
    read.add_argument("--voice", metavar="NAME|FILE", help="a voice, or a clip to take it from")
    read.add_argument("--chapters", action="store_true", help="list the chapters and the place")
    output = "write a sound file instead: .m4b, .wav, .flac, .opus or .mp3"
    read.add_argument("--output", type=Path, metavar="FILE", help=output)
    as_json(read, with_failure(_read))


def _read(options: argparse.Namespace) -> int:
    document = api.open_document(options.file)
    shelf = api.Shelf(api.shelf_path())
    if options.end is not None and options.output is None:
        raise api.errors.InvalidInput(
            "--to needs --output.", hint="Reading aloud goes on to the end, or until Ctrl+C."
        )
    if options.chapters:
        return _list(document, shelf.place(document.key), options)
    start, end = _chapter(document, options.start), _chapter(document, options.end)
    behind = None if end is None else end + 1
    how = api.ReadingOptions(options.voice, options.rate, start, behind, document.language)
    settings = own_settings()
    if options.output is not None:
        return _export(document, settings, how, options)
    shown = () if options.json else (_Text().show,)  # with --json the output is one document
    keeper = api.PlaceKeeper(document, shelf, *shown)
    try:
        api.read_aloud(keeper, settings, how)
    except KeyboardInterrupt:
        tell(f"\nThe place is kept: `rubato read {options.file}` goes on there.")
        raise
    return answer(options, {"title": document.title, "place": asdict(keeper.place)})


class _Text:
    """The text on the terminal, as it is read."""

    def __init__(self) -> None:
        self._title = ""

    def show(self, title: str, paragraph: "Paragraph") -> None:
        if title != self._title:
            self._title = title
            write(f"== {title}\n")
        if paragraph.text != title:
            write(f"{paragraph.text}\n")


def _list(document: "Document", place: "Place", options: argparse.Namespace) -> int:
    titles = list(document.chapter_titles)
    here = place.chapter if place != api.Place() else None
    lines = [
        f"{'*' if number == here else ' '}{number + 1:4} {title}"
        for number, title in enumerate(titles)
    ]
    shown = {"title": document.title, "chapters": titles, "place": asdict(place)}
    return answer(options, shown, *lines)


def _export(
    document: "Document",
    settings: api.Settings,
    how: "ReadingOptions",
    options: argparse.Namespace,
) -> int:
    began = time.monotonic()
    try:
        with ShareLine(as_json=options.json) as progress:
            watch = api.Watch(progress.draw, lambda: options.json and not is_caller_there())
            seconds = api.export_book(document, options.output, settings, how, watch)
    except KeyboardInterrupt:
        tell("What is ready is kept: the same command goes on there.")
        raise
    took_s = time.monotonic() - began
    made = {"file": options.output, "audio_s": seconds, "took_s": took_s}
    return answer(options, made, f"{seconds / 60:.1f} minutes of speech in {options.output}.")


def _chapter(document: "Document", given: str | None) -> int | None:
    """Return the index of a chapter by its number or the beginning of its title. InvalidInput."""
    if given is None:
        return None
    titles = document.chapter_titles
    if given.isdecimal() and 0 < int(given) <= len(titles):
        return int(given) - 1
    for index, title in enumerate(titles):
        if title.casefold().startswith(given.casefold()):
            return index
    raise api.errors.InvalidInput(
        "There is no chapter '{chapter}'.",
        hint="`rubato read FILE --chapters` lists them.",
        chapter=given,
    )
