"""Coins, dice and numbers follow the draws they are given."""

from collections.abc import Iterator

import pytest

from tests.engine.llm.skills.asking import ELSEWHERE, asked

TOO_MANY = "I can roll up to 20 dice with up to 1000 sides."


def drawn(text: str, *draws: int) -> tuple[str, list[tuple[int, int]]]:
    """The answer, and the ranges that were drawn from."""
    ranges: list[tuple[int, int]] = []
    coming: Iterator[int] = iter(draws)

    def draw(low: int, high: int) -> int:
        ranges.append((low, high))
        return next(coming)

    return asked(text, draw=draw).text, ranges


@pytest.mark.parametrize(
    ("text", "draws", "answer", "ranges"),
    [
        ("flip a coin", (1,), "Heads.", [(1, 2)]),
        ("toss a coin", (2,), "Tails.", [(1, 2)]),
        ("roll a die", (4,), "4.", [(1, 6)]),
        ("roll two dice", (3, 6), "3 and 6: 9 together.", [(1, 6)] * 2),
        ("roll a d20", (17,), "17.", [(1, 20)]),
        ("roll 3d6", (1, 2, 3), "1, 2 and 3: 6 together.", [(1, 6)] * 3),
        ("pick a number between one and ten", (7,), "7.", [(1, 10)]),
        ("random number from 10 to 5", (6,), "6.", [(5, 10)]),
        ("give me a random number", (99,), "99.", [(1, 100)]),
        ("choose between pizza and pasta", (2,), "Pasta.", [(1, 2)]),
        ("choose between tea, coffee and water", (3,), "Water.", [(1, 3)]),
        *((text, (), TOO_MANY, []) for text in ("roll 100 dice", "roll a d1", "roll a d 9999")),
        # no range and no die
        ("pick a number between one and a half and two", (), ELSEWHERE.text, []),
        ("roll the car", (), ELSEWHERE.text, []),
    ],
)
def test_the_draws_decide(text, draws, answer, ranges):
    assert drawn(text, *draws) == (answer, ranges)
