"""Skills as their files describe them: a YAML file has the sentences, lists and answers of a skill
and names functions of the Python module that has the same path, or module.function of another one.

README says how to add one. The sections of a file, all of them optional:

    precedence         when it is asked: lower numbers first, 50 if there is none
    module             has its functions, where that is not the module of the same path
    defaults           keys that all its intents have
    expansion_rules    parts of its sentences, <name> in them; those of shared.yaml are everybody's
    intents            by name: sentences, in hassil's template syntax; answer (or answers, one of
                       which is drawn), with slots and values in braces; respond, a function, with
                       constant slots for it (slots), that gives the values, a whole Answer, or
                       None where the sentence means something else; verbatim, certain, aside (see
                       Intent)
    follow_ups         after, sentences, asks, combine, a function, with constant slots for it
                       (slots), answered, verbatim (see FollowUp)
    tools              by name: respond, description, parameters, optional, verbatim (see Tool)
    lists              slots with known values: words, or {in: words, out: value}
    examples           slots that take any words, with examples of them
    fits               functions that decide whether words fit a slot (see Skill)

Invariant: a file is data, read with the safe loader; what is unknown, missing or of another type in
it is a WrongValue that names the file and the place.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeVar

import yaml

from engine.llm.skills.matching.intent import (
    PRECEDENCE,
    Answer,
    Combine,
    FollowUp,
    Intent,
    NotMeant,
    Responder,
    Skill,
    SkillContext,
    Slots,
    Tool,
    last_answer,
)
from engine.typed_values import WrongValue, typed

_TABLES: Final = frozenset(
    ("defaults", "expansion_rules", "lists", "examples", "fits", "intents", "tools")
)
# The type of each key of an intent, a follow-up or a tool; they mean the same in all of them.
_TYPES: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("sentences", "answers", "after", "optional"), tuple[str, ...]),
    **dict.fromkeys(("respond", "answer", "asks", "combine", "answered", "description"), str),
    **dict.fromkeys(("verbatim", "certain", "aside"), bool),
    **dict.fromkeys(("slots", "parameters"), dict),
}

SHARED: Final = "shared"  # the file whose expansion rules every other one may use
_RULE: Final = re.compile(r"<(\w+)>")
_Sayable = TypeVar("_Sayable", Intent, FollowUp)
_Named = TypeVar("_Named", Intent, Tool)


def load(folder: Path, package: str) -> tuple[Skill, ...]:
    """The skills of a folder, by `precedence`, then by path. timers/alarms.yaml names functions of
    the module `package`.timers.alarms. OSError; WrongValue when a file is not as it should be.
    """
    skills = [_read(file, folder, package) for file in sorted(folder.rglob("*.yaml"))]
    shared = next((each.expansion_rules for each in skills if each.name == SHARED), {})
    expanded = [_expanded(skill, {**shared, **skill.expansion_rules}) for skill in skills]
    return tuple(sorted(expanded, key=lambda skill: skill.precedence))


def _expanded(skill: Skill, rules: Mapping[str, str]) -> Skill:
    """The skill with its own and the shared parts of sentences ("<please>") written out: hassil
    would not count their words where it decides which sentence of an intent comes first.
    """

    def body(match: re.Match[str]) -> str:
        if match[1] not in rules:
            raise WrongValue(f"{skill.name}.yaml: there is no expansion rule <{match[1]}>")
        return f"({_RULE.sub(body, rules[match[1]])})"

    def written_out(each: _Sayable) -> _Sayable:
        sentences = tuple(_RULE.sub(body, sentence) for sentence in each.sentences)
        return replace(each, sentences=sentences)

    try:
        intents, follow_ups = map(written_out, skill.intents), map(written_out, skill.follow_ups)
        return replace(skill, intents=tuple(intents), follow_ups=tuple(follow_ups))
    except RecursionError as error:
        raise WrongValue(f"{skill.name}.yaml: an expansion rule contains itself") from error


def _read(file: Path, folder: Path, package: str) -> Skill:
    path = file.relative_to(folder).with_suffix("")
    try:
        content = _Loader(file.read_text(encoding="utf-8")).get_single_data()
        return _skill(path.as_posix(), content, package)
    # A TypeError comes from a key too many or too few.
    except (yaml.YAMLError, WrongValue, TypeError, ModuleNotFoundError) as error:
        raise WrongValue(f"{path.as_posix()}.yaml: {error}") from error


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # no types
    """The safe loader, in C where possible (ten times as fast); refuses a repeated key."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        twice = [key for key in keys if keys.count(key) > 1]
        if twice:
            raise WrongValue(f"'{twice[0]}' is there twice")
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def _skill(name: str, content: object, package: str) -> Skill:
    sections = _table(content, "the file")
    if unknown := sections.keys() - _TABLES - {"precedence", "module", "follow_ups"}:
        raise WrongValue(f"unknown section '{min(unknown)}'")
    tables = {key: _table(sections.get(key, {}), key) for key in _TABLES}
    module = typed(str, sections.get("module", name.replace("/", ".")), "module")
    function = partial(_function, package, module)
    return Skill(
        name,
        typed(int, sections.get("precedence", PRECEDENCE), "precedence"),
        intents=tuple(_made(Intent, "intents", tables, tables["defaults"], function)),
        follow_ups=tuple(_follow_ups(sections.get("follow_ups", []), function)),
        tools=tuple(_made(Tool, "tools", tables, {}, function)),
        expansion_rules=_texts(tables["expansion_rules"], "expansion_rules"),
        lists={key: tuple(_forms(forms, key)) for key, forms in tables["lists"].items()},
        examples={
            slot: typed(tuple[str, ...], said, f"examples.{slot}")
            for slot, said in tables["examples"].items()
        },
        fits={slot: function(named) for slot, named in tables["fits"].items()},
    )


def _made(
    kind: type[_Named],
    section: str,
    tables: Mapping[str, Mapping[str, object]],
    defaults: object,
    function: Callable[[str], Any],
) -> Iterator[_Named]:
    """The intents or the tools of a file."""
    for name, table in tables[section].items():
        entry = {**_entry(defaults, "defaults"), **_entry(table, f"{section}.{name}")}
        yield kind(name, respond=_responder(entry, function), **entry)


def _follow_ups(tables: object, function: Callable[[str], Any]) -> Iterator[FollowUp]:
    for at, table in enumerate(typed(list, tables, "follow_ups")):
        entry = _entry(table, f"follow_ups.{at}")
        constants = entry.pop("slots", {})
        if combine := entry.pop("combine", ""):
            entry["combine"] = partial(_combined, function(combine), constants)
        yield FollowUp(**entry)


def _responder(entry: dict[str, Any], function: Callable[[str], Responder]) -> Responder:
    """Remove a function, its constant slots and answers from an entry; return their responder."""
    respond, constants = entry.pop("respond", ""), entry.pop("slots", {})
    answers = (*entry.pop("answers", ()), *filter(None, [entry.pop("answer", "")]))
    if respond:
        return partial(_responded, function(respond), constants, answers)
    if not answers:
        raise WrongValue("an intent needs a function that responds, or answers")
    return partial(_said, answers)


def _said(answers: tuple[str, ...], slots: Slots, context: SkillContext) -> Answer:
    """Return one of the answers with its slots filled in, but not the last one that was given."""
    texts = [answer.format_map(slots) for answer in answers]
    others = [text for text in texts if text != last_answer(context)] or texts
    return Answer(others[context.draw(1, len(others)) - 1] if len(others) > 1 else others[0])


def _responded(
    respond: Callable[[Slots, SkillContext], Answer | Slots | None],
    constants: Slots,
    answers: tuple[str, ...],
    slots: Slots,
    context: SkillContext,
) -> Answer | None:
    given = {**slots, **constants}
    try:
        found = respond(given, context)
    except NotMeant:
        return None
    if found is None or isinstance(found, Answer):
        return found
    assert answers, "a function that gives values needs an answer to put them in"
    return _said(answers, {**given, **found}, context)


def _combined(
    combine: Combine, constants: Slots, before: Slots, now: Slots, context: SkillContext
) -> Slots | None:
    try:
        return combine(before, {**now, **constants}, context)
    except NotMeant:
        return None


def _function(package: str, own: str, named: str) -> Any:
    """Return a responder, or a function that combines or fits slots."""
    module, _, name = named.rpartition(".")
    path = f"{package}.{module or own}"
    found = getattr(import_module(path), name, None)
    if found is None:
        raise WrongValue(f"{path} has no function '{name}'")
    return found


def _entry(table: object, place: str) -> dict[str, Any]:
    """An intent, a follow-up or a tool, every value of the type of its key."""
    entry = _table(table, place)
    if unknown := entry.keys() - _TYPES:
        raise WrongValue(f"unknown key '{place}.{min(unknown)}'")
    values = {key: typed(_TYPES[key], value, f"{place}.{key}") for key, value in entry.items()}
    return {
        key: _texts(value, f"{place}.{key}") if isinstance(value, dict) else value
        for key, value in values.items()
    }


def _forms(forms: object, name: str) -> Iterator[tuple[str, str]]:
    """(what is said, its value) of a list's items: a text, or {in: ..., out: ...}."""
    for item in typed(list, forms, f"lists.{name}"):
        pair = {"in": item, "out": item} if isinstance(item, str) else item
        texts = _texts(pair, f"lists.{name}")
        if texts.keys() != {"in", "out"}:
            raise WrongValue(f"an item of 'lists.{name}' needs 'in' and 'out'")
        yield texts["in"], texts["out"]


def _texts(table: object, place: str) -> dict[str, str]:
    return {key: typed(str, value, f"{place}.{key}") for key, value in _table(table, place).items()}


def _table(value: object, place: str) -> dict[str, Any]:
    table: dict[str, Any] = typed(dict, value, place)
    if wrong := [key for key in table if not isinstance(key, str)]:
        raise WrongValue(f"the key {wrong[0]!r} of '{place}' is no text")
    return table
