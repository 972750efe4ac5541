"""Phones to the ids the weights were trained with.

Invariant: no phone of a text ever becomes the unknown id: that id masks the prompt and would tell
the model to drop its guidance (the released implementation does this to "?!").
"""

# ruff: noqa: RUF001  IPA letters look like others on purpose

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from engine.errors import ModelError
from engine.tts.pack_files import AGAIN, read_object

SILENCE, UNKNOWN, BOS, EOS = 120, 122, 123, 124  # phone ids; 122 also masks the prompt's phones
MARKS = {".": 117, ",": 118, "?": 119, "!": 121}  # phone ids of punctuation
VOCABULARY = 125  # ids, the special ones included
# American English as espeak-ng 1.52 spells it, most frequent first. For packs of our own: the
# published table's order is not known here.
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
    """Ids that are no sounds; `prompt_end` masks the last phone of a prompt. A mark of punctuation
    that `marks` lacks is not told to the network.
    """

    silence: int = SILENCE
    unknown: int = UNKNOWN
    bos: int = BOS
    eos: int = EOS
    prompt_end: int = UNKNOWN
    marks: Mapping[str, int] = field(default_factory=lambda: MARKS)

    @property
    def ids(self) -> frozenset[int]:
        """All of them."""
        plain = (self.silence, self.unknown, self.bos, self.eos, self.prompt_end)
        return frozenset((*plain, *self.marks.values()))


SPECIAL: Final = SpecialPhones()  # of the first weights, and of all packs


class PhoneTable:
    """Ids of phones; a phone the table lacks is spelt with those it has."""

    def __init__(self, ids: Mapping[str, int], special: SpecialPhones = SPECIAL) -> None:
        self._ids = {phone: number for phone, number in ids.items() if number not in special.ids}
        self.special = special

    def ids(self, phone: str) -> tuple[int, ...]:
        """One id, or several where the phone must be spelt; none for what makes no sound."""
        for spelling in _nearer(phone):
            if spelling in self._ids:
                return (self._ids[spelling],)
        letters = (self._ids.get(letter) for letter in phone if letter not in _STRESS + _LONG)
        return tuple(number for number in letters if number is not None)


def _nearer(phone: str) -> tuple[str, ...]:
    """The phone, as older tables have it, then without stress, then without length, then the other
    stress.
    """
    bare = phone.lstrip(_STRESS)
    short = bare.replace(_LONG, "")
    older = phone.replace("ɔːɹ", "oːɹ")  # espeak-ng 1.51 still told "force" from "north"
    return (phone, older, bare, short, _STRESS[0] + bare, _STRESS[1] + bare, bare + _LONG)


def own_ids() -> dict[str, int]:
    """Our own numbering of phones, from which trained voices take theirs."""
    return {phone: number for number, phone in enumerate(_OWN.split())}


def read_table(file: Path, vocabulary: int) -> PhoneTable:
    """A pack's table of phones. ModelError naming the file and what is wrong with it."""
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
    """phoneme_to_token.json, with special ids of its own: `named` by another file, or among its
    phones, or those of the first weights where no phone has them. ModelError naming the file and
    what is wrong with it.
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
    special = SpecialPhones(
        silence=found["sil"],
        unknown=found["unk"],
        bos=found["bos"],
        eos=found["eos"],
        prompt_end=found["eop"],
        marks=marks,
    )
    return PhoneTable(table, special)


# What special ids are called in tables and settings.
_NAMES: Final = {"sil": SILENCE, "unk": UNKNOWN, "bos": BOS, "eos": EOS, "eop": UNKNOWN}


def _read_ids(file: Path, vocabulary: int) -> dict[str, Any]:
    table = read_object(file)
    for phone, number in table.items():
        if type(number) is not int or not 0 <= number < vocabulary:
            raise ModelError(
                "{file}: '{key}' is {value}, expected a number below {most}.",
                hint=AGAIN,
                file=file,
                key=phone,
                value=repr(number),
                most=vocabulary,
            )
    return table
