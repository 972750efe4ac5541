import pytest

from engine.errors import ModelError
from engine.llm import registry
from engine.settings import LanguageModelSettings
from tests.fresh_python import prints


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ModelError, match="'gpt'") as caught:
        registry.load(LanguageModelSettings(engine="gpt"), print)
    assert all(name in caught.value.hint for name in registry.NAMES)


def test_importing_the_registry_imports_no_model_library():
    heavy = ["llama_cpp", "openai", "pint", "hassil", "torch"]
    program = f"import engine.llm.registry, sys; print([m for m in {heavy} if m in sys.modules])"
    assert prints(program) == "[]"
