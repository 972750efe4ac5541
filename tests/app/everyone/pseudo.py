"""A made-up language: every translated letter has an accent, and every text is 40 % longer.

Invariant: places in braces, accelerators and file types stay as they are, so the program works in
it; a plain letter on the screen was translated by nobody.
"""

import re
from gettext import NullTranslations

_PLAIN = "aceginorsuyzACEGINORSUYZ"
_ACCENTED = "áçéğíñóřšüýžÁÇÉĞÍÑÓŘŠÜÝŽ"
_OTHERS = {"b": "ƀ", "d": "đ", "f": "ƒ", "h": "ħ", "k": "ķ", "l": "ł", "m": "ɱ", "p": "þ", "t": "ŧ"}
_OTHERS |= {"j": "ĵ", "q": "ɋ", "v": "ṽ", "w": "ŵ", "x": "ẋ"}
_OTHERS |= {each.upper(): said.upper() for each, said in _OTHERS.items()}
_TABLE = str.maketrans({**dict(zip(_PLAIN, _ACCENTED, strict=True)), **_OTHERS})
_KEPT = re.compile(r"(\{\w*\}|\*\.\w+|\t.*$)")  # places, file types, keys in a menu
_LONGER = 0.4
_FILL = "łóñğ "


def pseudo(text: str) -> str:
    """The text in that language."""
    parts = _KEPT.split(text)
    accented = [each if _KEPT.fullmatch(each) else each.translate(_TABLE) for each in parts]
    more = int(len(re.sub(r"\{\w*\}", "", text).strip()) * _LONGER + 0.999)
    fill = (_FILL * (more // len(_FILL) + 1))[:more].rstrip()
    last = len(accented) - 1
    while (last and not accented[last].strip()) or _KEPT.fullmatch(accented[last]):
        last -= 1
        if last < 0:
            return "".join(accented)
    body = accented[last].rstrip()
    tail = accented[last][len(body) :]
    accented[last] = f"{body} {fill}{tail}" if fill else accented[last]
    return "".join(accented)


class Pseudo(NullTranslations):
    """As gettext gives it."""

    def gettext(self, message: str) -> str:
        return pseudo(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return pseudo(msgid1 if n == 1 else msgid2)
