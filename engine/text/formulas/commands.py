r"""The commands and signs of LaTeX in words.

Invariant: every entry is data; speech.py joins the parts of a formula. A command in no table is
said by its name.
"""

from engine.text.tables import section, words

GREEK = {name: name.lower() for name in words("latex", "greek")} | section("latex", "variants")
OPERANDS = GREEK | section("latex", "operands")
SIGNS = section("latex", "signs")
OPERATORS = section("latex", "operators")
RELATIONS = section("latex", "relations")
FUNCTIONS = section("latex", "functions")
BIG = section("latex", "big")
LIMITS = words("latex", "limits")
ACCENTS = section("latex", "accents")
LEADING_ACCENTS = words("latex", "leading_accents")
FONTS = words("latex", "fonts")
ROMAN = words("latex", "roman")
TEXTS = words("latex", "texts")
WITHOUT_GROUP = words("latex", "without_group")
SILENT = words("latex", "silent")
SPACES = frozenset({"\\,", "\\;", "\\:", "\\!", "\\ ", "\\>", "~", "\\/"})
PAUSES = words("latex", "pauses")
OPENING = section("latex", "opening")
CLOSING = section("latex", "closing")
ENCLOSED = section("latex", "enclosed")
MATRICES = words("latex", "matrices")
ROWS = words("latex", "rows")
ENVIRONMENTS = MATRICES | ROWS

STRUCTURES = words("latex", "structures")
COMMANDS = frozenset(
    name
    for table in (OPERANDS, OPERATORS, RELATIONS, FUNCTIONS, BIG, ACCENTS, OPENING, CLOSING)
    for name in table
    if name.isalpha() and name.isascii()
) | (FONTS | ROMAN | TEXTS | SILENT | PAUSES | STRUCTURES)
"""Every command that is known; in plain text, "\\name" is LaTeX only if it is one of them."""
