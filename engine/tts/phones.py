"""Ids of phones, as the weights were trained with them.

Invariant: no phone of a text gets the unknown id, which masks the prompt: the model would drop its
guidance (the released implementation does this for "?!").
"""

# ruff: noqa: RUF001  IPA letters look like others on purpose

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from engine.errors import ModelError
from engine.tts.pack_files import REMAKE, read_object

SILENCE, UNKNOWN, BOS, EOS = 120, 122, 123, 124  # phone ids; 122 also masks the prompt's phones
MARKS = {".": 117, ",": 118, "?": 119, "!": 121}  # phone ids of punctuation
VOCABULARY = 125  # ids, the special ones included
# American English in the spelling of espeak-ng 1.52, most frequent first. For packs of our own: the
# order of the published table is unknown.
_OWN = (
    "s t n k l d ɹ p ɪ m ə ˈɛ f b ˌɛ ɚ ˈɪ ˈiː ˈæ v ˌiː z ɡ ˈeɪ dʒ ɾ ˈɑː ŋ j ˈaɪ əl ᵻ ʃ ɐ ˌɪ "
    "ɛ oʊ i ˈɑːɹ w ˌeɪ ˈuː ˈoʊ tʃ ˈʌ ˌæ aɪ æ eɪ ˈɜː uː ˌuː h ˌaɪ ˌɑː ɑː ˌoʊ θ ˈɔːɹ iː ˌʌ ʌ "
    "ˌɑːɹ ˈɔː ɑːɹ ɔːɹ ˈaʊ ˈɔ ˌɔːɹ aʊ ʊ ˌɔː ˌɜː iə ɔ ɔː ɜː ˈɔɪ ʒ ˌɔ ˈʊ ˌaʊ ð ɔɪ ɪɹ ˈɛɹ ˈiə "
    "ˈaɪɚ ˈɪɹ ˌɔɪ ˈʊɹ ˌʊ ʔ ɛɹ r aɪə ˌiə ˌɪɹ ʊɹ n̩ ˈaɪə ˌn̩ ˌaɪɚ ˌɛɹ aɪɚ ˌʊɹ ˌaɪə ɬ x ˈu ˈɚ "
    "ˈə"
)
_STRESS = "ˈˌ"
_LONG = "ː"


@dataclass(frozen=True)
class SpecialPhones:
    """Ids that are not sounds; `prompt_end` masks the last phone of a prompt. Punctuation that
    `marks` lacks is not given to the network.
    """

    silence: int = SILENCE
    unknown: int = UNKNOWN
    bos: int = BOS
    eos: int = EOS
    prompt_end: int = UNKNOWN
    marks: Mapping[str, int] = field(default_factory=lambda: MARKS)

    @property
    def ids(self) -> frozenset[int]:
        """All special ids, those of marks included."""
        plain = (self.silence, self.unknown, self.bos, self.eos, self.prompt_end)
        return frozenset((*plain, *self.marks.values()))


SPECIAL: Final = SpecialPhones()  # of the first weights, and of all packs


class PhoneTable:
    """Ids of phones. A phone that the table lacks is spelt with other phones of the table."""

    def __init__(self, ids: Mapping[str, int], special: SpecialPhones = SPECIAL) -> None:
        self._ids = {phone: number for phone, number in ids.items() if number not in special.ids}
        self.special = special

    def ids(self, phone: str) -> tuple[int, ...]:
        """Return the ids of a phone: several if it is spelt with others, none if silent."""
        for spelling in _nearer(phone):
            if spelling in self._ids:
                return (self._ids[spelling],)
        letters = (self._ids.get(letter) for letter in phone if letter not in _STRESS + _LONG)
        return tuple(number for number in letters if number is not None)


def _nearer(phone: str) -> tuple[str, ...]:
    """Return spellings to look up for a phone, in order: as given, as in older tables, without
    stress, without length, with the other stress, with length.
    """
    bare = phone.lstrip(_STRESS)
    short = bare.replace(_LONG, "")
    older = phone.replace("ɔːɹ", "oːɹ")  # espeak-ng 1.51 distinguished "force" and "north"
    return (phone, older, bare, short, _STRESS[0] + bare, _STRESS[1] + bare, bare + _LONG)


def own_ids() -> dict[str, int]:
    """Return our own numbering of phones, for voices that are trained here."""
    return {phone: number for number, phone in enumerate(_OWN.split())}


def read_table(file: Path, vocabulary: int) -> PhoneTable:
    """Read a pack's table of phones. The ModelError names the file and its fault."""
    table = _read_ids(file, vocabulary)
    for mark, number in MARKS.items():
        if table.get(mark) != number:
            raise ModelError(
                "{file}: '{key}' is {value}, expected {expected}.",
                hint="This table belongs to another model.",
                file=file,
                key=mark,
                value=repr(table.get(mark)),
                expected=number,
            )
    return PhoneTable(table)


def read_published_table(file: Path, vocabulary: int, named: Mapping[str, int]) -> PhoneTable:
    """Read phoneme_to_token.json with its special ids: those `named` in another file, else those in
    the table, else those of the first weights if no phone has them. ModelError names the fault.
    """
    table = _read_ids(file, vocabulary)
    taken = {number for phone, number in table.items() if phone not in (*_NAMES, *MARKS)}
    found: dict[str, int] = {}
    for name, usual in _NAMES.items():
        number = named.get(name, table.get(name, usual))
        if name == "eop" and name not in {*named, *table}:
            number = found["unk"]
        if not 0 <= number < vocabulary or number in taken:
            raise ModelError(
                "{file} does not say which id below {most} '{key}' has.",
                hint="This table belongs to another model.",
                file=file,
                most=vocabulary,
                key=name,
            )
        found[name] = number
    marks = {mark: table[mark] for mark in MARKS if mark in table}
    sil, unk, bos, eos, eop = found.values()
    return PhoneTable(table, SpecialPhones(sil, unk, bos, eos, eop, marks))


# Names of special ids in tables and settings, in the order of SpecialPhones.
_NAMES: Final = {"sil": SILENCE, "unk": UNKNOWN, "bos": BOS, "eos": EOS, "eop": UNKNOWN}


def _read_ids(file: Path, vocabulary: int) -> dict[str, Any]:
    table = read_object(file)
    for phone, number in table.items():
        if type(number) is not int or not 0 <= number < vocabulary:
            raise ModelError(
                "{file}: '{key}' is {value}, expected a number below {most}.",
                hint=REMAKE,
                file=file,
                key=phone,
                value=repr(number),
                most=vocabulary,
            )
    return table
