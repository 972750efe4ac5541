"""The languages that Rubato speaks, and those of its window.

English has rules, a lexicon and skills of its own; the others are read by a table each. Every other
language is heard, written and shown, but not spoken.
"""

import locale
import os
import re
import sys
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

ENGLISH: Final = "en"


@dataclass(frozen=True)
class Language:
    """`code` is its code of ISO 639-1, `espeak` its name in espeak-ng, `title` its own name."""

    code: str
    espeak: str
    title: str


_ALL: Final = (
    Language(ENGLISH, "en-us", "English"),
    Language("es", "es", "Español"),
    Language("it", "it", "Italiano"),
    Language("pt", "pt-br", "Português"),
    Language("fr", "fr-fr", "Français"),
)
SPOKEN: Final = MappingProxyType({language.code: language for language in _ALL})
WINDOW_LANGUAGES: Final = MappingProxyType(  # each has a catalogue in resources/languages
    {
        ENGLISH: "English",
        "de": "Deutsch",
        "es": "Español",
        "fr": "Français",
        "it": "Italiano",
        "pt": "Português (Brasil)",
    }
)

_WHISPER: Final = """
af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr
ht hu hy id is it ja jw ka kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc
pa pl ps pt ro ru sa sd si sk sl sn so sq sr su sv sw ta te tg th tk tl tr tt uk ur uz vi yi yo yue
zh"""
HEARD: Final = tuple(_WHISPER.split())


def of_system() -> str:
    """Return the code of the language that the system is set to; English if it is unknown. Not
    tried on Windows and macOS.
    """
    if sys.platform == "win32":
        import ctypes

        name = locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")
    else:
        variables = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
        name = next(filter(None, map(os.environ.get, variables)), "")
    code = re.split(r"[_.:@-]", name)[0].lower()
    return ENGLISH if code in ("", "c", "posix") else code
