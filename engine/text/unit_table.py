"""Units of measurement: what people say and type, how an answer names them, how a text writes them.

Invariant: every `pint` name is defined in pint's registry, and every spoken or typed form and every
sign belongs to one unit only (tests check both).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.resources import table
from engine.text import tables


@dataclass(frozen=True)
class Unit:
    """`pint` is pint's name; `singular` and `plural` are spoken in answers; `also` are further
    spoken forms, `typed` the symbols in lower case. `signs` are the symbols as texts write them;
    `read` says how they are read aloud, where that differs from pint's name.
    """

    pint: str
    singular: str
    plural: str
    also: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()
    read: str = ""

    @property
    def american(self) -> str:
        """How its sign is read aloud, in the singular."""
        name = self.pint.replace("_", " ").replace("/", " per ").replace("metre", "meter")
        for power, word in (("**2", "square "), ("**3", "cubic ")):
            if name.endswith(power):
                name = word + name.removesuffix(power)
        return self.read or name

    @property
    def forms(self) -> tuple[str, ...]:
        """All words and symbols that name this unit, in lower case."""
        return tuple(dict.fromkeys((self.singular, self.plural, *self.also, *self.typed)))


def _unit(pint: str, entry: Mapping[str, str]) -> Unit:
    """A row of the table."""
    singular = entry.get("singular", pint.replace("_", " "))
    also, typed, signs = (
        tuple(filter(None, entry.get(key, "").split(", "))) for key in ("also", "typed", "signs")
    )
    for power in _POWERS.keys() & entry.keys():
        typed = tuple(form.format(entry[power]) for form in _POWERS[power])
    plural = entry.get("plural", f"{singular}s")
    return Unit(pint, singular, plural, also, typed, signs, entry.get("read", ""))


# How people type them.
_POWERS = {
    "square": ("sq {}", "sq{}", "{}2", "{}^2", "{} ^ 2"),
    "cubic": ("cu {}", "{}3", "{}^3", "{} ^ 3"),
}
UNITS = tuple(_unit(pint, entry) for pint, entry in table("text", "units.toml")["units"].items())
READ_ONLY = tables.section("units", "read_only")
"""Signs that are read aloud only: "=" at the end says that the plural is the same."""
_WRITTEN = {sign: unit.american for unit in UNITS for sign in unit.signs}
SIGNS: Mapping[str, str] = _WRITTEN | READ_ONLY
"""How a sign beside a number is read, in the singular and as Americans spell it; "=" as above."""
