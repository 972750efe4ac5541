"""The tables of cases.toml by name, and what tests do with a reply."""

import tomllib
from pathlib import Path

from engine.llm.base import TextDelta

CASES = tomllib.loads(Path(__file__).with_name("cases.toml").read_text("utf-8"))


def text(deltas):
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


def ask(model, asked, state):
    return list(model.reply(asked, state))
