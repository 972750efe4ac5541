"""The calls of tools that servers send in fragments, each in its own way."""

import pytest

from engine.llm.servers.completion import MAX_CALLS, CallParts

CAT, DOG = '{"word": "cat"}', '{"word": "dog"}'
TWO = [("spell", CAT), ("spell", DOG)]


def part(index=None, identifier=None, name=None, arguments=None):
    fields = {"index": index, "id": identifier, "function": {"name": name, "arguments": arguments}}
    return {key: value for key, value in fields.items() if value is not None}


def calls(*fragments):
    parts = CallParts()
    for fragment in fragments:
        parts.add([fragment])
    return [(call.name, call.arguments) for call in parts.calls()]


@pytest.mark.parametrize(
    "fragments",
    [
        [part(0, "a", "spell", ""), part(0, None, None, CAT[:5]), part(0, None, None, CAT[5:])],
        [part(0, "a", "spell", ""), part(0, "a", "spell", CAT[:5]), part(0, "a", "spell", CAT[5:])],
        [part(0, "a", "sp"), part(0, None, "ell", CAT)],
        [part(0, "a", "sp"), part(0, None, "spell", CAT)],
        [part(0, "a", None, CAT[:5]), part(0, None, None, CAT[5:]), part(0, None, "spell")],
        [part(0, "a", "spell", CAT[:5]), part(0, "b", None, CAT[5:])],  # an id for each fragment
        [part(0, "a", "spell", CAT), part(0, "a", "spell", CAT)],
        [part(0, "a", "spell", CAT), part(None, "a", "spell", CAT.replace(" ", ""))],
        [part(0, None, "spell", CAT), part(0, None, "spell", CAT)],
        [part(0, "a", "spell", CAT), part(0, "a", "spell", "")],
        [part(0, "a", "spell", CAT), part(0, None, None, "]")],
        [part(0, "a", "functions.spell", CAT)],
        [part(0, "a", "default_api:spell:0", CAT)],
        [part(0, "a", "spell<|channel|>commentary", CAT)],
        [part(0, "a", " spell\n", CAT)],
    ],
)
def test_one_call_is_one_however_it_is_delivered(fragments):
    (found,) = calls(*fragments)
    assert found[0] == "spell"
    assert found[1].replace(" ", "") == CAT.replace(" ", "")


@pytest.mark.parametrize(
    "fragments",
    [
        [part(0, "a", "spell", CAT), part(1, "b", "spell", DOG)],
        [part(0, "a", "spell", CAT), part(0, "b", "spell", DOG)],
        [part(0, "", "spell", CAT), part(0, "", "spell", DOG)],
        [part(None, None, "spell", CAT), part(None, None, "spell", DOG)],
        [part(0, "a", "spell", CAT), part(1, "a", "spell", DOG)],
        [
            *(part(0, None, "spell", ""), part(0, None, None, CAT)),
            *(
                part(0, None, "spell", ""),
                part(0, None, None, DOG[:6]),
                part(0, None, None, DOG[6:]),
            ),
        ],
    ],
)
def test_parallel_calls_are_told_apart_without_ids_or_indices(fragments):
    assert calls(*fragments) == TWO


def test_calls_alike_with_ids_of_their_own_are_two_and_other_tools_others():
    assert calls(part(0, "a", "spell", CAT), part(0, "b", "spell", CAT)) == [("spell", CAT)] * 2
    two = [part(0, None, "tell_time", ""), part(0, None, "spell", CAT)]
    assert calls(*two) == [("tell_time", ""), ("spell", CAT)]
    two = [part(0, None, "spell", CAT), part(0, None, "tell_time", "{}")]
    assert calls(*two) == [("spell", CAT), ("tell_time", "{}")]


def test_there_are_never_too_many_calls_and_every_one_has_an_id_of_its_own():
    parts = CallParts()
    parts.add(part(number, None, "spell", CAT) for number in range(100))
    assert len(list(parts.calls())) == 1  # all alike
    parts = CallParts()
    parts.add(part(number, None, "spell", f'{{"n": {number}}}') for number in range(100))
    found = list(parts.calls())
    assert len({call.id for call in found}) == len(found) == MAX_CALLS


def test_other_fields_of_a_call_are_kept_but_not_without_end():
    parts = CallParts()
    parts.add([{**part(0, "a", "spell", CAT), "type": "function", "extra_content": {"x": "y"}}])
    parts.add([{**part(0), "more": "z" * 200_000}])
    (call,) = parts.calls()
    assert call.extra == {"extra_content": {"x": "y"}}
