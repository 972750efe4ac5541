"""Texts that carry their template and values: through errors, processes and JSON."""

import json
import pickle

import pytest

from engine.errors import EngineError, ModelError
from engine.translatable import Translatable, from_json, joined, to_json

TEXT = Translatable("{name} holds {what}.", name="x", what=Translatable("{count} tables", count=3))


def test_a_text_is_the_finished_sentence_and_what_it_was_made_of():
    assert TEXT == "x holds 3 tables."
    assert (TEXT.template, TEXT.values) == (
        "{name} holds {what}.",
        {"name": "x", "what": "3 tables"},
    )
    for error in (ValueError(TEXT), ModelError(TEXT)):
        found = EngineError("It failed: {error}", error=error).message.values["error"]
        assert isinstance(found, Translatable)
        assert found.template == TEXT.template


def test_a_fault_formats_both_its_texts_and_one_that_is_passed_on_keeps_its_template():
    fault = ModelError("{name} is gone.", hint="Fetch {name}.", name="{name}")
    assert (fault.message, fault.hint) == ("{name} is gone.", "Fetch {name}.")
    assert str(fault) == "{name} is gone. Fetch {name}."
    assert ModelError(fault.message, hint="Look for {name}.", name="x").message is fault.message


def test_braces_in_a_value_are_text_and_it_brings_no_signs_that_a_terminal_obeys():
    for value in ("\x1b[2J", "\x9b", "\x00", "\ud800"):
        text = Translatable("It said {words}.", words=value)
        assert text.isprintable()
        assert text != "It said ."
    fault = ModelError("It failed: {error}", hint="Ask again.", error="{secret} {} {0.x}")
    assert fault.message == "It failed: {secret} {} {0.x}"
    assert EngineError("{a server} said {this}", hint="{}").message == "{a server} said {this}"


@pytest.mark.parametrize("text", [TEXT, joined((TEXT, "Again."), "; "), Translatable("{plain}")])
def test_a_text_comes_whole_through_another_process(text):
    for got in (pickle.loads(pickle.dumps(text)), from_json(json.loads(json.dumps(to_json(text))))):
        assert isinstance(got, Translatable)
        assert (got, got.template, got.values) == (text, text.template, text.values)


def test_somebody_elses_words_are_cut_and_a_document_that_is_no_text_is_refused():
    told = Translatable("It said {words}.", words="x" * 99)
    assert from_json(to_json(told, 5)) == "It said xxxxx."
    assert to_json("plain words", 5) == "plain"
    wrong = (["{a}", {}, 1], ["{a}", {"b": "c"}], ["{a.b}", {"a": "c"}])
    for document in (None, 3, ["a"], *wrong):
        with pytest.raises(ValueError, match="it"):
            from_json(document)
