"""GGUF models, through the real llama-cpp-python where a model is needed."""

import builtins

import pytest

pytest.importorskip("llama_cpp", reason="the extra 'llm' is not installed")

from engine.errors import LanguageModelError, ModelError
from engine.llm.base import Message, Remark, Role, StartTimer, TextDelta
from engine.llm.history import without_calls
from engine.llm.local import llama
from engine.llm.local.gguf import family_prompt
from engine.settings import LanguageModelSettings
from tests.engine.llm.cases import text
from tests.engine.llm.conftest import PLAIN

ENDS = {"<|assistant|>": "William", "William": " Shakespeare."}
CALL = '<tool_call>{"name": "set_timer", "arguments": {"duration": "ten minutes"}}</tool_call>'
TOOL_TEMPLATE = (
    "{% if tools %}{% for t in tools %}{% endfor %}<tool_call>{% endif %}"
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}"
    "{% for c in m.tool_calls or [] %}{{ c.function.arguments.duration }}{% endfor %}{% endfor %}"
    "{% if messages[-1].role == 'tool' %}<|tool|>{% else %}<|assistant|>{% endif %}"
)


@pytest.fixture
def load(make_gguf, skills):
    """load(follows, template, context_tokens): a loaded model, closed after the test."""
    loaded = []

    def make(*gguf, context_tokens=512, **named):
        settings = LanguageModelSettings(
            engine="llama",
            model=str(make_gguf(*gguf, **named)),
            context_tokens=context_tokens,
            temperature=0.0,
        )
        loaded.append(llama.open_file(settings, skills))
        return loaded[-1]

    yield make
    for model in loaded:
        model.close()


def says(after, said):
    """Tokens of at most 16 characters each: llama-cpp-python cuts longer ones short."""
    pieces = [said[start : start + 16] for start in range(0, len(said), 16)]
    return dict(zip([after, *pieces], pieces, strict=False))


def test_one_token_is_computed_for_each_piece(load, asked, state):
    model = load()
    reply = model.reply(asked, state)
    counts = []
    while len(counts) < 6:
        if text([next(reply)]):
            counts.append(model._llama.n_tokens)
    evaluated = count_evaluated(model)
    reply.close()
    assert evaluated == []
    assert counts == list(range(counts[0], counts[0] + 6))
    assert (model.info.name, model.info.detail) == ("llama", "tiny")


def test_temperature_and_system_prompt_change_without_loading(load, asked, state):
    model = load(ENDS)
    settings = LanguageModelSettings(engine="llama", temperature=1.5, system_prompt="Be brief.")
    model.adjust(settings)
    asked_for = []
    create = model._llama.create_completion
    model._llama.create_completion = lambda **named: (
        asked_for.append(named["temperature"]) or create(**named)
    )
    list(model.reply(asked, state))
    assert asked_for == [1.5]
    assert "Be brief." in model._next_prompt((), "x")


def test_the_prompt_is_read_in_slices_that_can_be_given_up(load, asked, state):
    model = load(ENDS)
    reply = model.reply([Message(Role.USER, "x" * 100)], state)
    assert next(reply) == TextDelta("")
    reply.close()
    assert 0 < model._llama.n_tokens <= llama.CPU_SLICE_TOKENS
    assert text(model.reply(asked, state)) == "William Shakespeare."


@pytest.mark.parametrize(("heard", "cut"), [("William Shakespeare.", False), ("William", True)])
def test_the_prompt_stays_warm_for_the_next_turn(load, state, asked, heard, cut):
    model = load(ENDS)
    assert text(model.reply(asked, state)) == "William Shakespeare."
    said = [*asked, Message(Role.ASSISTANT, heard, interrupted=cut)]
    list(model.warm(said))
    assert list(model.warm(said)) == []  # it is ready
    evaluated = count_evaluated(model)
    assert text(model.reply([*said, Message(Role.USER, "Why?")], state)).startswith("William")
    assert sum(evaluated) < 40  # not the system prompt and the first question again


@pytest.mark.parametrize(
    "history",
    [[], [Message(Role.USER, "Hello"), Message(Role.ASSISTANT, "Good day to you.")]],
    ids=["nothing said", "a turn"],
)
def test_what_is_known_of_the_next_prompt_is_read_before_the_question(load, state, asked, history):
    model = load(ENDS, TOOL_TEMPLATE, context=8192, context_tokens=8192)
    assert len(list(model.warm(history))) > 1
    evaluated = count_evaluated(model)
    assert text(model.reply([*history, *asked], state)) == "William Shakespeare."
    # The question's letters, the beginning of the reply, and its tokens; the rest was there.
    assert sum(evaluated) < 30


def test_getting_ready_can_be_given_up_and_loses_nothing(load, state, asked):
    model = load(ENDS, context_tokens=2048, context=2048)
    history = [Message(Role.USER, "x" * 300), Message(Role.ASSISTANT, "Yes.")]
    warming = model.warm(history)
    next(warming)
    warming.close()
    done = model._llama.n_tokens
    assert 0 < done <= llama.WARM_SLICE_TOKENS
    evaluated = count_evaluated(model)
    assert text(model.reply([*history, *asked], state)) == "William Shakespeare."
    assert done + sum(evaluated) == model._llama.n_tokens


def test_an_endless_model_stops_at_the_end_of_its_context(load, asked, state):
    said = text(load(context_tokens=256).reply(asked, state))
    assert said.startswith("one two three four one")
    assert len(said.split()) < 256


def test_old_turns_are_dropped_when_the_context_is_full_but_no_message_is_cut(load, state):
    model = load(ENDS, context_tokens=512)
    history = []
    for number in range(40):
        history += [Message(Role.USER, f"Question {number}"), Message(Role.ASSISTANT, "Yes.")]
    history.append(Message(Role.USER, "Who wrote Hamlet?"))
    assert text(model.reply(history, state)) == "William Shakespeare."
    with pytest.raises(LanguageModelError, match="too long"):
        list(model.reply([Message(Role.USER, "word " * 2000)], state))
    assert text(model.reply(history, state)) == "William Shakespeare."


def test_a_template_that_always_fails_is_a_clear_error_also_before_the_question(load, asked, state):
    model = load(ENDS, "{{ raise_exception('never') }}")
    for said in (model.reply([], state), model.reply(asked, state), model.warm([])):
        with pytest.raises(LanguageModelError, match="template"):
            list(said)


def test_a_thought_that_the_template_has_begun_is_not_spoken(load, asked, state):
    thinks = {"<think>": "Hm.", "Hm.": "</think>", "</think>": "Yes."}
    template = "{% for m in messages %}{{ m.content }}{% endfor %}<think>"
    assert text(load(thinks, template).reply(asked, state)) == "Yes."


def test_a_tool_is_called_and_its_result_answered(load, asked, state):
    follows = {**says("<|assistant|>", CALL), "<|tool|>": "It runs."}
    model = load(follows, TOOL_TEMPLATE, context=8192, context_tokens=8192)
    deltas = list(model.reply(asked, state))
    actions = [delta for delta in deltas if isinstance(delta, StartTimer)]
    assert [action.seconds for action in actions] == [600.0]
    assert text(deltas) == "It runs."


def test_a_template_gets_the_arguments_of_a_call_as_an_object(load):
    call = {"function": {"name": "set_timer", "arguments": '{"duration": "1 hour"}'}}
    broken = {"function": {"name": "set_timer", "arguments": "{"}}
    message = {"role": "assistant", "content": "", "tool_calls": [call, broken]}
    assert "<|assistant|>1 hour" in load(ENDS, TOOL_TEMPLATE)._prompt([message])


CALL_AND_RESULT = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Spell tea."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "a", "function": {"name": "spell", "arguments": '{"word": "tea"}'}}],
    },
    {"role": "tool", "tool_call_id": "a", "name": "spell", "content": "T, E, A."},
]
SHOWS_TOOLS = "{% if tools %}<tool_call>{{ tools | tojson }}{% endif %}" + PLAIN
NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}" + PLAIN
NEEDS_TOOLS = "{% for tool in tools %}{{ tool }}{% endfor %}" + PLAIN
NEEDS_FUNCTIONS = "{{ functions | length }}" + PLAIN
NO_TOOL_ROLE = (
    "{% for m in messages %}{% if m.role == 'tool' or m.tool_calls %}"
    "{{ raise_exception('only user and assistant') }}{% endif %}"
    "{% if (m.role == 'user') != (loop.index0 % 2 == 1) and m.role != 'system' %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}{% endfor %}" + PLAIN
)
NOTHING_BUT_USER_AND_ASSISTANT = (
    "{% for m in messages %}{% if m.role not in ('user', 'assistant') or m.tool_calls %}"
    "{{ raise_exception('only user and assistant') }}{% endif %}{% endfor %}" + PLAIN
)
CONTENT_IS_TEXT = "{% for m in messages %}{{ m.content + '' }}{% endfor %}" + PLAIN


@pytest.mark.parametrize(
    "template",
    [
        *(NO_SYSTEM, NEEDS_TOOLS, NEEDS_FUNCTIONS, NO_TOOL_ROLE),
        *(NOTHING_BUT_USER_AND_ASSISTANT, CONTENT_IS_TEXT),
    ],
    ids=["no system", "tools", "functions", "no calls", "two roles", "content"],
)
def test_a_template_that_takes_less_gets_the_same_in_another_form(load, asked, state, template):
    model = load(ENDS, template)
    assert text(model.reply(asked, state)) == "William Shakespeare."
    prompt = model._prompt(CALL_AND_RESULT)
    assert "Be kind." in prompt
    assert "T, E, A." in prompt


# Programs that fail, as Firefunction's does, with the marks of families that llama.cpp knows.
NEEDS_DATE = "{{ 'Today: ' + datetime }}<|start_header_id|>{{ role }}<|end_header_id|>"
NEVER_CHATML = "{{ raise_exception('never') }}<|im_start|>{{ role }}<|im_end|>"


@pytest.mark.parametrize(
    ("template", "question", "answer"),
    [
        (
            NEEDS_DATE,
            "<|start_header_id|>user<|end_header_id|>\n\nSpell tea.<|eot_id|>",
            "<|start_header_id|>assistant<|end_header_id|>\n\n",
        ),
        (NEVER_CHATML, "<|im_start|>user\nSpell tea.<|im_end|>", "<|im_start|>assistant\n"),
    ],
    ids=["Llama 3", "ChatML"],
)
def test_where_a_template_fails_the_format_of_its_family_is_used(load, template, question, answer):
    prompt = load(ENDS, template)._prompt(CALL_AND_RESULT)
    assert question in prompt
    assert prompt.endswith(answer)
    assert "Be kind." in prompt
    assert "T, E, A." in prompt


def test_a_reply_in_the_format_of_the_family_says_so(load, asked, state):
    deltas = list(load(ENDS, NEEDS_DATE, context=1024, context_tokens=1024).reply(asked, state))
    (remark,) = [delta.text for delta in deltas if isinstance(delta, Remark)]
    assert "template of tiny failed" in remark
    assert not any(isinstance(each, Remark) for each in load(ENDS).reply(asked, state))


def test_nothing_in_a_message_ends_the_prompt_early():
    chat = [{"role": "user", "content": "a\0b\ud800"}]
    assert "ab" in family_prompt(NEEDS_DATE, chat)
    assert family_prompt(NEEDS_DATE, []) == ""


def test_calls_as_text_leave_user_and_assistant_in_turn():
    second = {**CALL_AND_RESULT[3], "content": "And again."}
    plain = without_calls([*CALL_AND_RESULT, second])
    assert [each["role"] for each in plain] == ["system", "user", "assistant", "user"]
    assert plain[2]["content"] == "[used spell]"
    assert plain[3]["content"] == "[spell: T, E, A.]\n[spell: And again.]"


@pytest.mark.parametrize("letter", ["word ", "\u6cb3"], ids=["English", "Chinese"])
def test_a_question_that_fits_only_without_the_tools_is_answered(load, state, letter):
    """In a long conversation too."""
    model = load(ENDS, SHOWS_TOOLS, context=1024, context_tokens=1024)
    history = []
    for number in range(20):
        history += [Message(Role.USER, f"{letter * 15}{number}"), Message(Role.ASSISTANT, letter)]
    asked = [*history, Message(Role.USER, "Who wrote Hamlet?")]
    assert text(model.reply(asked, state)) == "William Shakespeare."


def settings(model) -> LanguageModelSettings:
    return LanguageModelSettings(engine="llama", model=str(model))


def cut_short(kept):
    return lambda make: make().read_bytes()[: max(8, int(kept * make().stat().st_size))]


@pytest.mark.parametrize(
    ("content", "refusal"),
    [
        (lambda make: None, r"no readable model file .*the\.gguf"),
        (lambda make: b"ID3" * 100, r"the\.gguf is not a GGUF"),
        (lambda make: make(template="").read_bytes(), "no chat template"),
        (lambda make: make(template="{% if %}").read_bytes(), "chat template of the"),
        *((cut_short(kept), r"the\.gguf could not be loaded") for kept in (0.001, 0.5, 0.99)),
    ],
    ids=["none", "a song", "no template", "a wrong template", "a head", "a half", "nearly all"],
)
def test_what_is_no_model_that_can_be_used_is_named(skills, tmp_path, make_gguf, content, refusal):
    path = tmp_path / "the.gguf"
    if written := content(make_gguf):
        path.write_bytes(written)
    with pytest.raises(ModelError, match=refusal):
        llama.open_file(settings(path), skills)


def test_without_the_library_the_error_says_what_to_install(skills, monkeypatch):
    real_import = builtins.__import__

    def without_llama(name, *args, **kwargs):
        if name.startswith("llama_cpp"):
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_llama)
    with pytest.raises(ModelError, match="not installed") as caught:
        llama.load(settings("model.gguf"), skills, lambda text, fraction: None)
    assert "pip install" in caught.value.hint


def count_evaluated(model) -> list[int]:
    """From now on, how many tokens each evaluation takes."""
    counts = []
    real = model._llama.eval

    def counting(tokens):
        counts.append(len(tokens))
        real(tokens)

    model._llama.eval = counting
    return counts
