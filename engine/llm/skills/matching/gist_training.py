"""Make the weights of the classifier in gist.py from the texts in resources/skills/gist/.

`python -m engine.llm.skills.matching.gist_training` takes some minutes. Tests fail until it was
run after a change of the texts, and until its new hash is in
tests/engine/llm/skills/matching/test_gist.py.
Invariant: the same texts make the same sentences in the same order.
"""

import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np
from hassil import sample_expression
from safetensors.numpy import save_file

from engine.llm.skills.matching.corpus import spoken, spoken_lists
from engine.llm.skills.matching.gist import (
    A_NAME,
    CLARIFICATION,
    NOTHING,
    SIZE,
    WEIGHTS,
    Features,
    Floats,
    features,
    scale,
    softmax,
    tokens,
)
from engine.llm.skills.matching.repertoire import repertoire
from engine.resources import resource

TEXTS: Final = ("requests.txt", "phrasings.txt", "talk.txt")
# The voices in the texts.
_VOICES: Final = (
    *("emma", "george", "bella", "daniel", "isabella", "michael"),
    *("lewis", "sarah", "heart", "anna", "bruno", "clara"),
)
_INNERMOST: Final = re.compile(r"\(([^()\[\]]*)\)|\[([^()\[\]]*)\]")
_DEFINED: Final = re.compile(r"(\w+) = (.*)")
_HEADING: Final = re.compile(r"\[([\w ]+)\]")
_DRAWN: Final = 30  # sentences of a line of requests
_DRAWN_TALK: Final = 120  # of a line of other talk, which has more words
_ELSEWHERE: Final = 8  # sentences of a template of another skill
_EPOCHS: Final = 6
_RUNS: Final = 3  # in other orders; their mean errs less than each
# Features with weights, of 42,000: 9,000 made a fifth more questions about other talk than all.
_ROWS: Final = 24_000
_TALK: Final = 1.4  # factor of the weight of other talk: with 1, twice as many questions about it
_STEPS: Final = 11  # of a weight on each side of zero; with 7, fewer requests are recognised
_RARE: Final = 200  # sentences; a feature of more is no more useful
_STEP: Final = 0.8
_FORGOTTEN: Final = 0.2  # share of the features of a sentence, each time it is seen
_LEAST_COMMON: Final = 6  # sentences that have a feature
_LEAST_SEEN: Final = 3  # of a known word, in sentences


class Example(NamedTuple):
    """A sentence as its tokens, its meaning and its weight."""

    words: Sequence[str]
    intent: str
    weight: float


def examples() -> list[Example]:
    """Return all examples."""
    draw, parts = random.Random(1), dict[str, str]()
    found = [each for name in TEXTS for each in _of_file(name, parts, draw)]
    found += _of_other_skills({CLARIFICATION, *(each.intent for each in found)})
    return [*found, *_single_words(found), *_without_content(found, draw)]


def trace() -> str:
    """Return a hash of the texts that the weights are made from."""
    texts = [resource("skills", "gist", name).read_bytes() for name in TEXTS]
    return hashlib.sha256(b"".join(texts)).hexdigest()


def learn(learnt_from: Sequence[Example]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return tensors and metadata of a softmax regression with decreasing steps (Adagrad)."""
    seen = Counter(
        word for each in learnt_from if each.intent != NOTHING for word in set(each.words)
    )
    known = frozenset(word for word, count in seen.items() if count >= _LEAST_SEEN)
    intents = sorted({each.intent for each in learnt_from})
    counts = np.array(
        [each.weight * (_TALK if each.intent == NOTHING else 1) for each in learnt_from], np.float32
    )
    counts /= counts.mean()
    right = [intents.index(each.intent) for each in learnt_from]
    rows = [features(each.words, known) for each in learnt_from]
    rows = _useful(rows, right, counts)
    runs = [_descend(rows, right, counts, run) for run in range(_RUNS)]
    tensors = _packed(np.mean([weights for weights, _ in runs], axis=0))
    tensors["bias"] = np.mean([bias for _, bias in runs], axis=0)
    words = {"intents": "\n".join(intents), "known": "\n".join(sorted(known))}
    return tensors, {**words, "trace": trace()}


def _useful(rows: Sequence[Features], right: Sequence[int], counts: Floats) -> list[Features]:
    """Return the rows with only the _ROWS features that matter most."""
    common = np.bincount(np.concatenate(rows), minlength=SIZE)
    common[common < _LEAST_COMMON] = 0
    weights, _ = _descend([row[common[row] > 0] for row in rows], right, counts, 0)
    useful = np.abs(weights).max(axis=1) * np.minimum(common, _RARE) ** 0.25
    kept = useful > np.sort(useful)[-_ROWS - 1]
    return [row[kept[row]] for row in rows]


def _descend(
    rows: Sequence[Features], right: Sequence[int], counts: Floats, run: int
) -> tuple[Floats, Floats]:
    """Return weights and bias: means over the later epochs."""
    draw, forget = random.Random(run), np.random.default_rng(run)
    weights = np.zeros((SIZE, max(right) + 1), np.float32)
    bias = np.zeros(max(right) + 1, np.float32)
    steepness = np.full((SIZE, 1), 1e-3, np.float32)
    order = list(range(len(rows)))
    mean, mean_bias = np.zeros_like(weights), np.zeros_like(bias)
    for epoch in range(_EPOCHS):
        draw.shuffle(order)
        for each in order:
            found = rows[each][forget.random(len(rows[each])) >= _FORGOTTEN]
            error = softmax(weights[found].sum(axis=0) * scale(len(found)) + bias)
            error[right[each]] -= 1
            slope = error * (counts[each] * scale(len(found)))
            steepness[found] += (slope * slope).sum()
            weights[found] -= _STEP / np.sqrt(steepness[found]) * slope
            bias -= 0.01 * error
        if epoch >= _EPOCHS // 2:
            mean += weights
            mean_bias += bias
    count = _EPOCHS - _EPOCHS // 2
    return (mean / count).astype(np.float32), (mean_bias / count).astype(np.float32)


def _packed(weights: Floats) -> dict[str, Any]:
    """Return the weights as small whole numbers, without the rows of zeros."""
    scales = np.abs(weights).max(axis=0) / _STEPS
    small = np.round(weights / scales).astype(np.int8)
    rows = np.flatnonzero(small.any(axis=1))
    return {"rows": rows.astype(np.uint16), "weights": small[rows], "scales": scales}


def _of_file(name: str, parts: dict[str, str], draw: random.Random) -> Iterator[Example]:
    """Yield the sentences of a text; its definitions are added to the `parts`."""
    intent = NOTHING
    for line in resource("skills", "gist", name).read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if defined := _DEFINED.fullmatch(line):
            parts[defined[1]] = _with_definitions(defined[2], parts)
        elif heading := _HEADING.fullmatch(line):
            intent = heading[1]
        else:
            drawn = _drawn(line, parts, draw, _DRAWN_TALK if intent == NOTHING else _DRAWN)
            for said in drawn:
                often = 0.2 if intent == NOTHING else 0.5
                said = _slipped(_dressed(said, often, parts, draw), intent, draw)
                words = tokens(said.replace(A_NAME, _VOICES[0]), _VOICES)
                yield Example(words, intent, len(drawn) ** -0.6)


def _drawn(line: str, parts: Mapping[str, str], draw: random.Random, most: int) -> list[str]:
    """Return up to `most` different sentences of a line."""
    line = _with_definitions(line, parts)
    found: dict[str, None] = {}
    for _ in range(2 * most):
        found[_filled(_one_of(line, draw), draw)] = None
        if len(found) == most:
            break
    return list(found)


def _with_definitions(line: str, parts: Mapping[str, str]) -> str:
    """Return the line with the definitions of its names."""
    while "<" in line:
        line = re.sub(r"<(\w+)>", lambda name: parts[name[1]], line)
    return line


def _one_of(line: str, draw: random.Random) -> str:
    while part := _INNERMOST.search(line):
        options = [*part[2].split("|"), ""] if part[1] is None else part[1].split("|")
        line = line[: part.start()] + draw.choice(options) + line[part.end() :]
    return " ".join(line.split())


def _filled(said: str, draw: random.Random) -> str:
    """Return the sentence with a value in each slot; a subject is made of unknown words."""

    def value(slot: re.Match[str]) -> str:
        if slot[1] == "name":
            return A_NAME
        if slot[1] == "number":
            return str(draw.choice((1, 3, 5, 20, 50, 80)))
        if slot[1] == "subject":
            return " ".join(_strange_word(draw) for _ in range(draw.choice((1, 1, 2))))
        forms = repertoire().lists[slot[1]]
        return _one_of(draw.choice(forms)[0], draw)

    return re.sub(r"\{(\w+)\}", value, said)


def _strange_word(draw: random.Random) -> str:
    return "".join(
        draw.choice("bcdfglmnprstvz") + draw.choice("aeiou") + draw.choice(("", "n", "r", "s"))
        for _ in range(draw.choice((2, 2, 3)))
    )


def _dressed(said: str, often: float, parts: Mapping[str, str], draw: random.Random) -> str:
    """Sometimes add words that people say before and after a request, or their reason."""
    why = _filled(_one_of(parts["reason"], draw), draw)
    if draw.random() < often * 0.45:
        said = f"{why} {draw.choice(('so', 'and', '', ''))} {said}"
    elif draw.random() < often * 0.45:
        said = f"{said} {draw.choice(('because', 'since', 'as', '', ''))} {why}"
    if draw.random() < often * 0.7:
        said = f"{_one_of(parts['before'], draw)} {said}"
    if draw.random() < often * 0.5:
        said = f"{said} {_one_of(parts['after'], draw)}"
    return said


def _slipped(said: str, intent: str, draw: random.Random) -> str:
    """Sometimes change a word or a letter; in other talk, sometimes put in a name."""
    if intent == NOTHING and draw.random() < 0.04:
        words = said.split()
        words[draw.randrange(len(words))] = A_NAME
        return " ".join(words)
    if draw.random() < 0.08 and said.count(" ") > 3:
        words = said.split()
        words[draw.randrange(len(words))] = _strange_word(draw)
        return " ".join(words)
    if draw.random() < 0.08 and len(said) > 6:
        at = draw.randrange(1, len(said) - 1)
        return said[:at] + draw.choice(("", 2 * said[at])) + said[at + 1 :]
    return said


def _of_other_skills(intents: set[str]) -> Iterator[Example]:
    """Yield sentences of the skills without these intents, as other talk."""
    lists = spoken_lists()
    for skill in repertoire().skills:
        if intents.isdisjoint(each.name for each in skill.intents):
            for expression in repertoire().templates(skill.intents).expressions():
                pool = list(islice(sample_expression(expression, lists), 4000))
                for said in random.Random(1).sample(pool, min(len(pool), _ELSEWHERE)):
                    yield Example(tokens(spoken(said)), NOTHING, 0.5)


def _single_words(found: Sequence[Example]) -> Iterator[Example]:
    """Yield single words of requests, which alone ask for nothing: "next", "list"."""
    requests = [each.words for each in found if each.intent != NOTHING]
    alone = {words[0] for words in requests if len(words) == 1}
    for word in sorted({word for words in requests for word in words} - alone):
        yield Example((word,), NOTHING, 0.3)


def _without_content(found: Sequence[Example], draw: random.Random) -> Iterator[Example]:
    """Yield requests with strange words in place of characteristic ones: "I want some dessert"."""
    said = {True: Counter[str](), False: Counter[str]()}
    for each in found:
        said[each.intent == NOTHING].update(set(each.words))
    characteristic = {word for word, count in said[False].items() if count > 2 * said[True][word]}
    for each in found:
        if each.intent != NOTHING and draw.random() < 0.3:
            words = [_strange_word(draw) if word in characteristic else word for word in each.words]
            if words != list(each.words):
                yield Example(words, NOTHING, each.weight)


if __name__ == "__main__":
    tensors, words = learn(examples())
    save_file(tensors, str(resource(*WEIGHTS)), words)
