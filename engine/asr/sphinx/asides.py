"""What people say while somebody else speaks (engine/text/interaction.py), as a grammar.

A recogniser made for sentences seldom gets a lone word right, and is much better when it chooses
among few (decision.aside).
"""

from engine.text.interaction import HALTS, NODS

# Of their words that no pronouncing dictionary has.
SOUNDS = {
    "mhm": "M HH M",
    "hm": "HH M",
    "hum": "HH AH M",
    "uhuh": "AH HH AH",
    "eh": "EH",
    "aha": "AA HH AA",
    "yep": "Y EH P",
    "yup": "Y AH P",
}

Transition = tuple[int, int, float, str]


def transitions() -> list[Transition]:
    """All of it as a grammar from state 0 to state 1: (state, next state, probability, word). All
    texts are equally likely.
    """
    texts = [text.split() for text in (*HALTS, *NODS)]
    steps: list[Transition] = []
    states = 2
    for words in texts:
        state, chance = 0, 1 / len(texts)
        for word in words[:-1]:
            steps.append((state, states, chance, word))
            state, chance = states, 1.0
            states += 1
        steps.append((state, 1, chance, words[-1]))
    return steps
