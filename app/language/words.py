"""The words of the window in the person's language, by the standard library's gettext.

Invariant: the English sentence is the key, so what nobody translated is shown in English. Values go
into named places of the sentence ({name}), because languages order them differently. No Qt here:
what knows no Qt speaks too.
"""

from gettext import GNUTranslations, NullTranslations

from engine.api import resource

# By code, each in its own words; English is written in the code.
LANGUAGES = {"en": "English", "de": "Deutsch", "fr": "Français"}
_DECIMAL_COMMA = ("de", "fr")


class _InForce:
    """What is spoken now; one for the program, as its window is one."""

    catalogue = NullTranslations()
    comma = False


def tr(text: str, /, **values: object) -> str:
    """The text in the language in force, with these values in its places."""
    said = _InForce.catalogue.gettext(text) if text else ""
    return said.format(**values) if values else said


def tr_n(one: str, many: str, count: int, /, **values: object) -> str:
    """The form that fits a number, which stands at {count}."""
    return _InForce.catalogue.ngettext(one, many, count).format(count=count, **values)


def mark(text: str) -> str:
    """The text itself: it is translated where it is shown, because this line runs too early."""
    return text


def decimal(value: float, places: int) -> str:
    """A number with this many decimals, as one writes it in the language in force."""
    written = f"{value:.{places}f}"
    return written.replace(".", ",") if _InForce.comma else written


def choose(code: str) -> None:
    """Speak the language of this code from now on; one that is not in LANGUAGES is English."""
    if code == "en" or code not in LANGUAGES:
        use(NullTranslations())
        return
    with resource("languages", f"{code}.mo").open("rb") as file:
        use(GNUTranslations(file), comma=code in _DECIMAL_COMMA)


def use(catalogue: NullTranslations, *, comma: bool = False) -> None:
    """Speak from this catalogue; `comma`: before decimals."""
    _InForce.catalogue = catalogue
    _InForce.comma = comma
