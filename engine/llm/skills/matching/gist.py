"""Requests about the program in a person's own words, recognised by a small linear classifier.

Its features are words, pairs of words and parts of words. gist_training.py makes its weights from
the texts in resources/skills/gist/.
Invariant: no meaning without the values that its intent needs.
"""

import re
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from typing import Final

import numpy as np
import numpy.typing as npt
from safetensors import safe_open

from engine.llm.skills.matching.canonical import digits_for_words, plain, without_fillers
from engine.llm.skills.matching.intent import Slots
from engine.llm.skills.matching.repertoire import repertoire
from engine.resources import resource, table

WEIGHTS: Final = ("skills", "gist", "weights.safetensors")
CLARIFICATION: Final = "clarification"  # the intent that asks about a meaning
NOTHING: Final = "none"  # the class of everything that is not a request
TENSORS: Final = ("rows", "weights", "scales", "bias")  # of the file of weights
LONGEST: Final = 24  # words
SIZE: Final = 1 << 16  # features are numbered by a hash below it
# Probabilities from which a request is carried out, and from which it is asked about. Chosen on 676
# requests and 2,434 other sentences for earlier weights. The figures are in
# resources/pages/developing.md.
SURE: Final = 0.9
LIKELY: Final = 0.15
ENGLISH: Final = "English/British"  # a kind of voice that is also a language
NUMBER: Final = "#"
A_NAME: Final = "@"  # of a voice
_STRANGE: Final = "?"  # a word that no request has
_PIECES: Final = (3, 4)  # letters
_MOST_STRANGE: Final = 5
_LENGTHS: Final = (4, 8, 12)
_WORD: Final = re.compile(r"[a-z']+|\d[\d.]*")
_TYPED: Final = [
    (re.compile(pattern), written) for pattern, written in table("skills", "rewrites.toml")["typed"]
]

Floats = npt.NDArray[np.float32]
Features = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Meaning:
    """The likely intent of a sentence; `probability` is at least LIKELY."""

    intent: str
    slots: Slots
    probability: float


@dataclass(frozen=True)
class Classifier:
    """`known` are the words of requests; `weights` has a row for each feature in `rows`, in order,
    and a column for each of the `intents`, whose factor is in `scales`.
    """

    intents: Sequence[str]
    known: Collection[str]
    rows: Features
    weights: npt.NDArray[np.int8]
    scales: Floats
    bias: Floats

    def probabilities(self, words: Sequence[str]) -> Floats:
        """Return the probability of each intent."""
        found = features(words, self.known)
        at = np.minimum(np.searchsorted(self.rows, found), len(self.rows) - 1)
        rows = at[self.rows[at] == found]
        sums = self.weights[rows].sum(axis=0) * self.scales
        return softmax(sums * scale(len(rows)) + self.bias)


def meanings(text: str, names: Collection[str]) -> Iterator[Meaning]:
    """Yield what the text may mean, the likeliest first. `names` are the available voices."""
    called = {name.split()[0].lower(): name for name in names}
    words = tokens(text, called.keys())
    if not 0 < len(words) <= LONGEST:
        return
    learnt = classifier()
    probabilities = zip(learnt.probabilities(words).tolist(), learnt.intents, strict=True)
    likely = [each for each in probabilities if each[0] >= LIKELY and each[1] != NOTHING]
    said = " ".join(_WORD.findall(_plain(text)))
    for probability, intent in sorted(likely, reverse=True):
        if _is_contradicted(intent, said):
            return
        for meant in (*_FINER.get(intent, ()), intent):
            slots = _SLOTS[meant](said, called) if meant in _SLOTS else {}
            if slots is not None:
                yield Meaning(meant, slots, probability)


def tokens(text: str, names: Collection[str] = ()) -> list[str]:
    """Return the words of a text; each number and each name of a voice becomes one common word."""
    return [
        NUMBER if word[0].isdigit() else A_NAME if word.removesuffix("'s") in names else word
        for word in _WORD.findall(_plain(text))
    ]


def features(words: Sequence[str], known: Collection[str]) -> Features:
    """Return the sorted numbers of the features: words, pairs, parts of words, counts."""
    kept = [word if word in known or word in (NUMBER, A_NAME) else _STRANGE for word in words]
    row = ["^", *kept, "$"]
    strange = min(kept.count(_STRANGE), _MOST_STRANGE)
    found = {f"w {word}" for word in words}
    found.update(f"b {one} {two}" for one, two in pairwise(row))
    found.update(f"s {one} {two}" for one, two in zip(row, row[2:], strict=False))
    found.update(f"? {count}" for count in range(1, strange + 1))
    found.update(f"n {length}" for length in _LENGTHS if len(words) > length)
    for word in (f"<{word}>" for word in words):
        found.update(
            f"c {word[at : at + size]}" for size in _PIECES for at in range(len(word) - size + 1)
        )
    return np.unique(np.array([zlib.crc32(each.encode()) % SIZE for each in found], np.int64))


def scale(count: int) -> float:
    """Return the factor that makes sums over few and many features comparable."""
    return float(3 / np.sqrt(count + 5))


def softmax(sums: Floats) -> Floats:
    shares = np.exp(sums - sums.max())
    return np.asarray(shares / shares.sum(), np.float32)


@cache
def classifier() -> Classifier:
    """Return the classifier, loaded at the first call (12 ms)."""
    with safe_open(resource(*WEIGHTS), "np") as file:  # type: ignore[no-untyped-call]
        rows, weights, scales, bias = (file.get_tensor(name) for name in TENSORS)
        intents, known = (file.metadata()[name].split("\n") for name in ("intents", "known"))
    return Classifier(intents, frozenset(known), rows.astype(np.int64), weights, scales, bias)


def _plain(text: str) -> str:
    line = plain(without_fillers(text))
    for pattern, written in _TYPED:
        line = pattern.sub(written, line)
    return digits_for_words(line)


# A question or remark about how things are or what was said, which changes nothing: "is history
# on", "did you get louder", "you are not too fast", "slow down, you said?".
_STATE: Final = re.compile(
    r"^(?:(?:is|are|am|was|were|did|does|has|had|should i|do you (?:like|love)(?! to)"
    r"|what happens)\b(?! (?:not|there|(?:it|that) (?:ok|okay|fine|all right)|you know|\w+ there"
    r"|(?:any|some|every)\w*)\b)(?!.*\b(?:could|can|able|possible|allowed|please|too)\b)"
    r"|.*\b(?:are|is) not too\b|.*(?<!what |that |hing | all )\b(?:you|he|she|they) said$)"
)
# A report of a change, or what somebody thinks or wants of another person: "you are louder now",
# "it got much darker", "my boss thinks i should be quieter", "you sound like my mum"; also a taste,
# "i like it black", and a question about limits, "how many timers can you run".
_REPORT: Final = re.compile(
    r"^(?:(?:now|so|hm+|i (?:think|notice|see)(?: that)?) )?(?:you|it|(?:your|the) \w+)"
    r"(?: (?:are|is|was|were|got|look|looks|sound|sounds|seem|seems|speak|talk|read)"
    r"|(?:'ve|'s| have| has) (?:got|become|been|gone))"
    r"(?: (?:much|a lot|a bit|a little|so much|even|already))* (?:\w+er|more \w+)"
    r"(?: (?:now|today|again|before|already|this \w+|since\b.*"
    r"|than (?!i (?:like|want|need|can)).*))*$"
    r"|(?<!\bi )(?<!\bwe )(?<!\byou )\b(?:thinks?|says?|said|tells|told|believes?|wish|wishes"
    r"|wants?|wanted|asks|asked|would like|expects|reckons)"
    r" (?:(?:me|us|him|her|them) to|(?:that )?(?:i|he|she|we|they)"
    r" (?:should|was|were|am|is|are|talks?|speaks?|sounds?|mumbles?))\b(?!.*\byou)"
    r"|^i (?:would )?(?:like|want|take|have|prefer|need) (?:it|mine|my \w+) (?:black|white)\b"
    r"|^how many \w+ can (?:you|i)\b"
    r"|^you (?:sound|talk|speak|look)(?: just| exactly| a bit| a lot)? like (?:\w+ ){0,2}\w+$"
)
_REPORTED: Final = frozenset(
    ("faster", "slower", "louder", "quieter", "mute", "dark", "light", "kind of voice")
) | {"clone a voice", "everything"}
_TELLS: Final = re.compile(r"(?:tell|explain|show|list|look)\b")  # questions about a mere answer
_VOICE: Final = "use|choose|take|switch|change|(?:speak|talk|sound) (?:as|like)"
_REMOVAL: Final = "delete|erase|remove|bin|forget"
_SWITCH: Final = "turn|switch|enable|use|activate"
# The words of an intent that a negation before them rules out: "don't quit", "less dark".
_OWN_WORDS: Final = {
    "faster": "fast|faster|quick|quicker",
    "slower": "slow|slower|slowly|fast enough|quick enough",
    "louder": "loud|louder",
    "quieter": "quiet|quieter|softer|loud enough",
    "mute": "mute",
    "dark": "dark|darker|black|(?:light|bright) enough",
    "light": "light|lighter|bright|brighter|white|dark enough",
    "quit": "quit|close|exit|end|shut",
    "hide": "hide|minimise|minimize",
    "export": "export|save",
    "new conversation": "begin|start|open|clear|new",
    "delete conversation": _REMOVAL,
    "delete everything": _REMOVAL,
    "kind of voice": _VOICE,
    "voice by name": _VOICE,
    "hands free on": _SWITCH,
    "microphone on": _SWITCH,
    "microphone off": "turn|switch|mute|close|stop",
    "history on": _SWITCH,
    "history off": "turn|switch|disable",
    "switch on": _SWITCH,
}
_NEGATION: Final = (
    r"\b(?<!why do )(?:not|never|less)(?! you (?!dare))(?: (?:want|ask|you|dare|to|it|be|make|get"
    r"|go|speak|talk|sound|turn|set|so|that|too|any|a|the|ever|window|screen))*? "
)


def _is_contradicted(intent: str, said: str) -> bool:
    """Return whether the sentence refuses what the intent does, or only speaks of how it is."""
    own = _OWN_WORDS.get(intent)
    if own and re.search(rf"{_NEGATION}(?:{own})\b(?! enough\b)", said):
        return True
    if intent in _REPORTED and _REPORT.search(said):
        return True
    if intent == "languages spoken" and said.startswith(("speak ", "talk ")):
        return True  # an order, not a question
    question = table("skills", "clarification.toml")[intent]
    return bool(_STATE.search(said)) and not _TELLS.match(question)


# The values of an intent's slots; None without a value that the intent needs.
_Called = Mapping[str, str]
_TOO = re.compile(
    r"\b(?:too|hate|dislike|not (?:like|stand)|hard|difficult|tiring|unpleasant|less) "
    r"(?:\w+ ){0,2}$"
)
_NOT = re.compile(
    r"\bnot (?:an? )?\w+|\bno (?:wo)?men\b|\b(?:happier|calmer|softer) (?=with\b|if\b)"
    r"|\binstead of \w+"
)
_NUMBER = re.compile(r"\b\d+(?:\.\d+)?\b(?! (?:st|nd|rd|th)\b)")
_ABOUT = re.compile(
    r"\b(?:about|regarding|concerning|for|on|with|was|find|search)(?: (?:for|the|my|our|your|that|"
    r"some)\b)* (?P<subject>.+?)"
    r"(?: (?:thing|stuff|talk|chat|conversation|once|before|again|please|in|from|can|could|where|"
    r"last|the other|some time|we|i|and|find|is|it)\b.*)?$"
)


def _kinds(said: str, _called: _Called) -> Slots | None:
    """Return the kinds in their order in the sentence; of "too high" its opposite. Beside another
    accent, as in "American English", English is not one.
    """
    kinds, opposites = _meanings("kind"), _meanings("opposite")
    values = []
    for word in re.finditer(r"[\w']+", _NOT.sub("", said)):
        before = word.string[: word.start()]
        meant = opposites if word[0] in opposites and _TOO.search(before) else kinds
        values.append(meant.get(word[0], ""))
    accents = {value for value in values if value[:1].isupper()} - {ENGLISH}
    values = [value for value in values if value and not (accents and value == ENGLISH)]
    return {f"kind_{at}": value for at, value in enumerate(dict.fromkeys(values), 1)} or None


def _voice(said: str, called: _Called) -> Slots | None:
    found = [called[word] for word in re.findall(r"\w+", said) if word in called]
    return {"name": found[0]} if len(set(found)) == 1 else None


def _longest(slot: str, *lists: str) -> Callable[[str, _Called], Slots | None]:
    """Return a function that finds the longest form of the lists in the text."""

    def value(said: str, _called: _Called) -> Slots | None:
        forms = {form: value for name in lists for form, value in _meanings(name).items()}
        found = [form for form in forms if re.search(rf"\b{re.escape(form)}\b", said)]
        return {slot: forms[max(found, key=len)]} if found else None

    return value


def _language(said: str, _called: _Called) -> Slots | None:
    found = [value for name, value in _meanings("language").items() if name.lower() in said.split()]
    return {"language": found[0]} if found else None


def _subject(said: str, _called: _Called) -> Slots | None:
    rest = re.search(r"\b(?:about|regarding|concerning) .*", said)
    found = _ABOUT.search(rest[0] if rest else said)
    return {"subject": found["subject"]} if found else None


def _number(slot: str) -> Callable[[str, _Called], Slots | None]:
    def value(said: str, _called: _Called) -> Slots | None:
        found = _NUMBER.search(said)
        return {slot: found[0]} if found else None

    return value


_FINER: Final = {"languages spoken": ("languages",)}  # tried first, where they have their values
_SLOTS: Final[Mapping[str, Callable[[str, _Called], Slots | None]]] = {
    "kind of voice": _kinds,
    "voices of a kind": _kinds,
    "voice by name": _voice,
    "open settings page": _longest("page", "device", "page"),
    "switch on": _longest("key", "switch"),
    "find conversation": _subject,
    "set rate": _number("rate"),
    "set volume": _number("percent"),
    "languages": _language,
    "quit": lambda _said, _called: {"indirect": "yes"},
}


@cache
def _meanings(name: str) -> Mapping[str, str]:
    """Return the forms of a list of the skills, each with its value."""
    return {
        " ".join("".join(parts).split()): value
        for said, value in reversed(repertoire().lists[name])
        for parts in product(*(part.split("|") for part in re.split(r"[()]", said)))
    }
