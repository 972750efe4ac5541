"""What tests do with a reply."""

from engine.llm.base import TextDelta


def text(deltas):
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


def ask(model, asked, state):
    return list(model.reply(asked, state))
