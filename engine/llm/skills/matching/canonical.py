"""One common form for spoken and typed text: it makes "What's 3*4?" and "what is three times four"
comparable.

Invariant: canonical(canonical(text)) == canonical(text); the result is lower case, with numbers as
digits, no sentence punctuation, no courtesy words around it and no contractions.
"""

import re

from text_to_num import alpha2digit

MAX_CHARS = 2000  # no skill understands longer requests; the rest is ignored

# Applied in order, to lower-case text.
_SYMBOLS = (
    (re.compile(r"[\u2018\u2019`]"), "'"),
    (re.compile(r"\b(\d+)\s?'\s?(\d+)(?:\"|''|\b)"), r"\1 feet \2 inches"),
    (re.compile(r"[\u201c\u201d\"]"), " "),
    (re.compile(r"\*\*"), "^"),
    (re.compile(r"[\u00d7\u2715\u2217\u00b7]"), "*"),
    (re.compile(r"÷"), "/"),
    (re.compile(r"[\u2212\u2013\u2014]"), "-"),
    (re.compile(r"√"), " square root of "),
    (re.compile(r"½"), " 1/2 "),
    (re.compile(r"¼"), " 1/4 "),
    (re.compile(r"¾"), " 3/4 "),
    # Whisper's "2-3rds"; "the 4-5th of July" is no fraction.
    (re.compile(r"\b(?<!the )([1-9])[-/]((?:3rd|[4-9]th|1[0-2]th)s?)\b(?! of [a-z])"), r"\1 \2"),
    (re.compile(r"²"), "^2"),
    (re.compile(r"³"), "^3"),
    (re.compile(r"°\s*c\b|℃"), " degrees celsius "),
    (re.compile(r"°\s*f\b|℉"), " degrees fahrenheit "),
    (re.compile(r"°"), " degrees "),
    (re.compile(r"%"), " percent "),
    (re.compile(r"per cent\b"), "percent"),
    (re.compile(r"(?<=\d),(?=\d{3}\b)"), ""),
    (re.compile(r"\b([ap])\s?\.\s?m\b\.?"), r"\1m"),
)
_CONTRACTIONS = (
    # As "a" and "an" are often heard.
    (re.compile(r"\b(set|start|create|make) and (?=alarm|timer|reminder)"), r"\1 a "),
    (re.compile(r"\b(what|who|where|when|how|that|it|there|time)'s\b"), r"\1 is"),
    (re.compile(r"\bwhats\b"), "what is"),
    (re.compile(r"\bi'?m\b"), "i am"),
    (re.compile(r"\b(you|we|they)'re\b"), r"\1 are"),
    (re.compile(r"\blet'?s\b"), "let us"),
    (re.compile(r"\bwanna\b"), "want to"),
    (re.compile(r"\b(yesterday|today|tomorrow)s\b"), r"\1's"),
    (re.compile(r"\bcan't\b"), "cannot"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\b(i|you|we)'ll\b"), r"\1 will"),
    (re.compile(r"\b(i|you|we)'d\b"), r"\1 would"),
    (re.compile(r"\b(year|valentine)'s\b"), r"\1s"),
)
_PUNCTUATION = re.compile(r"[?!;]+|[,:](?!\d)|(?<!\d):|\.(?!\d)")
# "10mi" and "20km" are split into number and unit, and so are "2e5" and "3x4"; "25th" stays one
# word.
_NUMBER_THEN_LETTERS = re.compile(r"(?<=\d)(?!(?:st|nd|rd|th)\b)(?=[a-z])")
_OPERATOR_BETWEEN = re.compile(r"\s*([*/+^()=])\s*")
_MINUS_BETWEEN = re.compile(r"(?<=[\d)])\s*-\s*(?=[\d(])")
_HYPHEN_AFTER_NUMBER = re.compile(r"(?<=\d)-(?=[a-z])")
_SPACES = re.compile(r"\s+")
_NOW_BETWEEN = re.compile(r" (?:right now|currently|exactly|at (?:the|this) moment)(?= )")
# "Tell me what the date is tomorrow": an indirect question in the order of a direct one.
_INDIRECT = (
    (
        re.compile(
            r"^what ((?:the|my|your|today(?:'s)?|tomorrow's|\d[\d.,$]*)\b.*?) "
            r"(is|are|was|will be)\b"
        ),
        r"what \2 \1",
    ),
    (re.compile(r"^(what \w+) it (is|was|will)\b"), r"\1 \2 it"),
)

# alpha2digit would write "a second" as "a 2nd"; the time unit is far more common here.
_SECOND = re.compile(r"\bsecond\b")
_SHIELD = "§"

_COURTESY_BEFORE = re.compile(
    r"^(?:please|ok|okay|(?:hey|hi|hello)(?! there| again|,? *$)|rubato|so|well|um|uh|now|and|"
    r"would you be so kind (?:as )?to|"
    r"(?:can|could|would|will|may) you(?: please)?(?= (?!do|hear|sing|speak$))|"
    r"good (?:morning|afternoon|evening)(?=(?:,? \S+){3})|"
    r"i(?: want| would like|'d like| need) you to|i(?: would like|'d like| want| need) to know|"
    r"(?:i (?:would like|want|need|have|wish) to|i must|you (?:must|need to|can)|let us|help me|"
    r"is it possible to)(?= (?:set|create|make|start|add|subtract|multiply|divide|convert|roll|"
    r"flip|toss|throw|increase|decrease|raise|turn|mute)\b)|go ahead and|"
    r"(?:give|show|share)(?: me)?(?= .*\b(?:time|timezone|date)\b)|"
    r"(?:can|could|may) i (?:get|have)(?= (?:the|an?) )|"
    r"do you (?:happen to )?know|tell me(?! (?:again|once|one|it)\b)|let me know|just|sorry|"
    r"excuse me|from now on)"
    r"\b,?\s+(?=\S)",
    re.IGNORECASE,
)
_COURTESY_AFTER = re.compile(
    r"[\s,]+(?:please|thanks|thank you|ok|okay|rubato|(?<!wait )for me|right now|now|then|"
    r"currently|exactly|at (?:the|this) moment|from now on|if you (?:can|could|will|would)|"
    r"will you|would you)"
    r"[\s.!?]*$",
    re.IGNORECASE,
)


def canonical(text: str) -> str:
    """The form in which skills compare sentences; digits for number words, see above."""
    line = text[:MAX_CHARS].lower()
    for pattern, replacement in (*_SYMBOLS, *_CONTRACTIONS):
        line = pattern.sub(replacement, line)
    line = _PUNCTUATION.sub(" ", line)
    line = _HYPHEN_AFTER_NUMBER.sub(" ", digits_for_words(line))
    line = _NUMBER_THEN_LETTERS.sub(" ", line)
    line = _MINUS_BETWEEN.sub(" - ", _OPERATOR_BETWEEN.sub(r" \1 ", line))
    line = _NOW_BETWEEN.sub("", without_courtesy(_SPACES.sub(" ", line).strip()))
    for pattern, direct in _INDIRECT:
        line = pattern.sub(direct, line)
    return line


def without_courtesy(text: str) -> str:
    """The text without "please", "could you", "hey Rubato" and the like around it."""
    before = None
    while before != text:
        before = text
        text = _COURTESY_AFTER.sub("", without_courtesy_before(text))
    return text


def without_courtesy_before(text: str) -> str:
    """The same at the beginning only, because what follows may be words to repeat."""
    before = None
    while before != text:
        before = text
        text = _COURTESY_BEFORE.sub("", text.strip())
    return text


def digits_for_words(text: str) -> str:
    """Number words as digits: "two point five" -> "2.5", "twenty-one" -> "21"."""
    shielded = _SECOND.sub(_SHIELD, text)
    written: str = alpha2digit(shielded, "en", 0)
    return written.replace(_SHIELD, "second")
