"""The readings of English as the reader calls those of every language."""

import re
from collections.abc import Sequence

from engine.text.rules import groups, numbers, punctuation, readings
from engine.text.rules.context import Context, PreviousToken, Reading
from engine.text.rules.punctuation import Peeled

_LAST_PART = re.compile(r"(?<=\w)[-–](?=\w)(?!(?<!/\d.)\d\d?/\d)")  # "10-15 km": the 15 counts


class EnglishReadings:
    """See TableReadings."""

    group_mark = ","

    def read(self, body: str, context: Context) -> Reading:
        return readings.read(body, context)

    def code(self, run: Sequence[str], context: Context, *, entire: bool) -> int:
        return groups.code(run, cued=groups.cued(context), entire=entire)

    def thousands(self, run: Sequence[str], context: Context) -> int:
        return groups.thousands(run, context)

    def code_words(self, text: str) -> list[str]:
        return groups.words_of(text)

    def opens_pause(self, peeled: Peeled, past: tuple[PreviousToken, ...]) -> bool:
        return punctuation.opens_pause(peeled)

    def past(self, body: str, punctuation: str, mark: str) -> PreviousToken:
        return PreviousToken(numbers.american(_LAST_PART.split(body)[-1]), mark)
