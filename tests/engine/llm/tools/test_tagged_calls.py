import pytest

from engine.llm.tools.tagged_calls import tool_calls
from engine.llm.tools.tags import Tagged

TIME = ("tell_time", "{}")
SPELL = ("spell", '{"word": "Tea"}')


@pytest.mark.parametrize(
    ("body", "calls"),
    [
        ('{"name": "spell", "arguments": {"word": "Tea"}}', [SPELL]),
        ('{"name": "tell_time"}', [TIME]),
        ('{"name": "spell", "arguments": "{}"}', [("spell", "{}")]),
        *((body, [("", body)]) for body in ("not json", "[]", "{}", "[" * 100_000)),
        ('{"name": "tell_time", "parameters": {}}', [TIME]),
        (
            '{"type": "function", "function": {"name": "spell", "arguments": {"word": "Tea"}}}',
            [SPELL],
        ),
        ('[{"name": "tell_time"}, {"name": "spell", "arguments": {"word": "Tea"}}]', [TIME, SPELL]),
        ('{"name": "tell_time"}\n{"name": "spell", "args": {"word": "Tea"}}', [TIME, SPELL]),
        ("\n<function=tell_time>\n</function>\n", [TIME]),
        ("<function=spell><parameter=word>\nTea\n</parameter></function>", [SPELL]),
        ('<function=spell>{"word": "Tea"}</function>', [SPELL]),
        ('<invoke name="spell">\n<parameter name="word">Tea</parameter>\n</invoke>', [SPELL]),
        ("<function=tell_time></function><function=spell><parameter=word>Tea", [TIME, SPELL]),
        ("spell\n<arg_key>word</arg_key>\n<arg_value>Tea</arg_value>", [SPELL]),
        ("tell_time", [TIME]),
        ("tell_time()", [TIME]),
        ('spell[ARGS]{"word": "Tea"}', [SPELL]),
        ('functions.spell <|constrain|>json<|message|>{"word": "Tea"}', [SPELL]),
        ('functions.spell json{"word": "Tea"}', [SPELL]),
        (
            "<|tool_call_begin|>functions.tell_time:0<|tool_call_argument_begin|>{}<|tool_call_end|>"
            "<|tool_call_begin|>functions.spell:1<|tool_call_argument_begin|>"
            '{"word": "Tea"}<|tool_call_end|>',
            [TIME, SPELL],
        ),
        (
            "<\uff5ctool▁call▁begin\uff5c>function<\uff5ctool▁sep\uff5c>spell\n```json\n"
            '{"word": "Tea"}\n```<\uff5ctool▁call▁end\uff5c>',
            [SPELL],
        ),
    ],
    ids=range(24),
)
def test_every_way_to_write_calls_is_read(body, calls):
    read = list(tool_calls([Tagged(body)]))
    assert [(call.name, call.arguments) for call in read] == calls
    assert read[0].id == "call"
