"""A skill is one YAML file and one function: what its file says, and what a wrong file is told."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.llm.skills.matching.intent import PRECEDENCE, Answer, Skill, SkillContext
from engine.llm.skills.matching.matcher import Matcher
from engine.llm.skills.matching.repertoire import Repertoire, repertoire
from engine.llm.skills.matching.skill_files import load
from engine.typed_values import WrongValue
from tests.engine.llm.cases import CASES
from tests.engine.llm.skills.asking import ELSEWHERE, HERE, NOW, asked

MOON = Path(__file__).with_name("planets.yaml").read_text("utf-8")
MODULE = """
from engine.llm.skills.matching.intent import Answer

def distance(slots, context):
    if slots["planet"] == "earth":
        return Answer("You are there.")
    light = {"mars": 12, "venus": 8}.get(slots["planet"])
    return {"light": light} if light else None
"""


Add = Callable[[str], tuple[Skill, ...]]


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Add:
    """Adds a skill called planets.yaml with this text to an empty folder, and loads the folder."""

    def add(text: str) -> tuple[Skill, ...]:
        package = tmp_path / "added_skills"
        package.mkdir(exist_ok=True)
        (package / "planets.py").write_text(MODULE, encoding="utf-8")
        (package / "planets.yaml").write_text(text, encoding="utf-8")
        return load(package, "added_skills")

    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("added_skills.planets", "added_skills.stars", "added_skills"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return add


def said(skills: tuple[Skill, ...], *sentences: str) -> str:
    """What these skills answer to the last of the sentences; of several answers the first."""
    by = Matcher(Repertoire(skills))
    return asked(*sentences, by=by, draw=lambda low, _high: low).text


def test_a_skill_is_one_file_of_sentences_and_one_function(added):
    """And a tool of language models too."""
    skills = added(MOON)
    assert said(skills, "How distant is Mars?") == "mars is 12 light minutes away."
    assert said(skills, "how far is mars", "and venus?") == "venus is 8 light minutes away."
    assert said(skills, "how far is earth") == "You are there."
    assert said(skills, "how far is berlin") == ELSEWHERE.text
    (tool,) = Repertoire(skills).tools
    assert tool.parameters == {"planet": "its name"}
    context = SkillContext(lambda: NOW, lambda: HERE, Path("nowhere"))
    assert tool.respond({"planet": "venus"}, context) == Answer("8 light minutes.")


def test_a_function_of_another_module_is_named_with_it(added, tmp_path):
    (tmp_path / "added_skills").mkdir()
    (tmp_path / "added_skills" / "stars.py").write_text(MODULE, encoding="utf-8")
    skills = added(MOON.replace("respond: distance", "respond: stars.distance"))
    assert said(skills, "how far is earth") == "You are there."
    assert "added_skills.planets" not in sys.modules


def test_fixed_answers_need_no_function(added):
    skills = added(
        "intents:\n"
        "  moon: {sentences: ['is it full'], answer: 'It is not.'}\n"
        "  phase: {sentences: ['describe the {phase} moon'], answers: ['It is {phase}.']}\n"
        "lists:\n  phase: [new, {in: half, out: waxing}]\n"
    )

    sentences = ("is it full", "describe the new moon", "describe the half moon")
    answers = [said(skills, sentence) for sentence in sentences]
    assert answers == ["It is not.", "It is new.", "It is waxing."]


def test_of_several_answers_the_last_one_is_not_given_again(added):
    skills = added("intents:\n  moon: {sentences: [again], answers: [First., Second.]}\n")
    assert said(skills, "again") == said(skills, "again", "again", "again") == "First."
    assert said(skills, "again", "again") == "Second."


def test_skills_are_asked_by_precedence_and_then_by_path(tmp_path):
    """A new one before small talk and sums."""
    for name, precedence in (("b", 1), ("c", 1), ("a", 2), ("d", 0)):
        (tmp_path / f"{name}.yaml").write_text(f"precedence: {precedence}\n", encoding="utf-8")
    (tmp_path / "e.yaml").write_text("intents: {}", encoding="utf-8")
    assert [skill.name for skill in load(tmp_path, "nowhere")] == ["d", "b", "c", "a", "e"]
    later = [each.name for each in repertoire().skills if each.precedence > PRECEDENCE]
    assert later == ["smalltalk", "arithmetic/shares", "arithmetic/sums", "control/clarification"]


@pytest.mark.parametrize(("text", "wrong"), CASES["wrong_skill_files"])
def test_a_wrong_file_is_named_with_the_place(added, text, wrong):
    with pytest.raises(WrongValue) as raised:
        added(text)

    assert str(raised.value).startswith("planets.yaml: ")
    assert wrong in str(raised.value)


def test_a_file_without_its_module_is_named(tmp_path):
    (tmp_path / "stars.yaml").write_text("fits: {star: is_star}", encoding="utf-8")
    with pytest.raises(WrongValue, match=r"stars\.yaml: No module named"):
        load(tmp_path, "no_such_package")


ONE = "intents:\n  a: {sentences: [b], answer: c}\n"


@pytest.mark.parametrize(
    ("text", "times", "wrong"),
    [
        ("intents:\n  a: {sentences: ['{b}'], answer: c}", 1, "'b'"),
        ("follow_ups: [{after: [b], sentences: [c]}]", 1, "no intent 'b'"),
        (ONE + "follow_ups: [{after: [a], asks: d, sentences: [e]}]", 1, "no intent 'd'"),
        (ONE, 2, "two intents 'a'"),
    ],
)
def test_a_name_that_stands_for_nothing_or_for_two_is_found_at_once(added, text, times, wrong):
    with pytest.raises(WrongValue, match=wrong):
        Repertoire(added(text) * times)
