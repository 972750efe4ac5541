import subprocess
import sys

import pytest

from engine.errors import ModelError
from engine.llm import registry
from engine.llm.base import Message, Role, Situation, TextDelta
from engine.settings import LanguageModelSettings


def quiet(text, fraction):
    """Progress that nobody watches."""


def test_the_default_needs_no_model():
    model = registry.load(LanguageModelSettings(), quiet)
    here = Situation(rate=None, volume=1.0, voice="", voices=())
    reply = model.reply([Message(Role.USER, "what is two plus two")], lambda: here)

    assert list(reply) == [TextDelta("2 plus 2 is 4.")]
    model.close()


def test_a_server_is_not_contacted_before_the_first_reply():
    settings = LanguageModelSettings("server", model="m", address="http://127.0.0.1:1/v1")
    model = registry.load(settings, quiet)

    assert model.info.name == "server"
    model.close()


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ModelError, match="'gpt'") as caught:
        registry.load(LanguageModelSettings(engine="gpt"), quiet)
    assert all(name in caught.value.hint for name in registry.NAMES)


def test_importing_the_registry_imports_no_model_library():
    heavy = ["llama_cpp", "openai", "pint", "hassil", "torch"]
    program = f"import engine.llm.registry, sys; print([m for m in {heavy} if m in sys.modules])"
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert printed.stdout.strip() == "[]"
