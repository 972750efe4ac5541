"""The few things people say into a reply, as a grammar."""

from engine.asr.sphinx.decoder import transitions
from engine.text.interaction import HALTS, NODS


def texts() -> set[str]:
    """Every way from state 0 to state 1."""
    ways, ended = [(0, "")], set()
    while ways:
        state, text = ways.pop()
        for source, target, _, word in transitions():
            if source == state:
                grown = f"{text} {word}".strip()
                ended.add(grown) if target == 1 else ways.append((target, grown))
    return ended


def test_the_grammar_says_every_halt_and_nod_and_nothing_else() -> None:
    assert texts() == set(HALTS) | set(NODS)
