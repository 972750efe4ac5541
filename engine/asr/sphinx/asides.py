"""What people say into somebody else's speech, in a word or two: to halt them, or to go along.

A recogniser made for sentences seldom gets a lone word right, and is much better when it chooses
among few (decision.aside). "Go on" is not among them: too many voices' "one moment" sounds like it.
Invariant: lower-case words and single spaces; no text is in both lists.
"""

HALTS = (
    *("stop", "stop it", "stop that", "stop now", "stop talking", "stop please", "please stop"),
    *("no", "no no", "wait", "wait a moment", "wait a minute", "wait a second"),
    *("hold on", "hang on", "one moment", "one second", "just a moment", "just a second"),
    *("cancel", "pause", "quiet", "be quiet", "shut up", "enough", "never mind", "nevermind"),
)
NODS = (
    *("mhm", "hm", "um", "um hum", "uhuh", "uh huh", "uh", "huh", "ah", "oh", "eh", "aha"),
    *("yeah", "yeah yeah", "yes", "yep", "yup", "okay", "okay okay", "all right", "right", "sure"),
    *("so", "well", "i see", "good", "great", "nice", "fine", "cool", "exactly", "of course"),
    *("wow", "oh wow", "really", "oh really", "got it", "i know", "true", "oh okay", "go ahead"),
    *("interesting", "that's right", "perfect"),
)
# Of the words above that no pronouncing dictionary has.
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
    """All of it as a grammar from state 0 to state 1: (state, next state, probability, word). Every
    text is as likely as the next.
    """
    texts = [text.split() for text in (*HALTS, *NODS)]
    found: list[Transition] = []
    states = 2
    for words in texts:
        state, chance = 0, 1 / len(texts)
        for word in words[:-1]:
            found.append((state, states, chance, word))
            state, chance = states, 1.0
            states += 1
        found.append((state, 1, chance, words[-1]))
    return found
