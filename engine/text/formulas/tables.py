"""Reads the short notations in which the tables of commands are written."""

import re


def names(text: str) -> dict[str, str]:
    """ "alpha varphi=phi": each name with what is said for it, itself unless given."""
    entries = (entry.partition("=") for entry in text.split())
    return {name: said or name for name, _, said in entries}


def phrases(text: str) -> dict[str, str]:
    """ "le is at most|ge is at least": a name and its words, in entries parted by bars or lines."""
    entries = (entry.strip().partition(" ") for entry in re.split(r"[|\n]", text) if entry.strip())
    return {name: said for name, _, said in entries}
