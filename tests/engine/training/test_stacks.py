"""Where attention is to lie, and whether it does."""

import torch

from engine.nn.transformer import Heads
from engine.training.stacks import Watch, around, mass, places

GUIDE = torch.tensor([[-1, 0, 0, 2, 4, 4]])  # the fourth position's place has only just been read


def test_a_word_gives_its_positions_the_places_of_its_units_in_turn() -> None:
    assert places(7, 2, [3, 6], 8) == [7, 7, 7, 8, 8]
    assert places(7, 3, [3, 4, 4], 5) == [7, 9]  # the second is too short for a position
    assert places(7, 3, [3, 5], 8) == [7, 7, 8, 8, 8]  # a mark follows the phones
    assert places(7, 5, [0], 2) == [7, 7]


def test_a_position_is_to_look_at_its_place_and_beside_it_as_far_as_that_is_read() -> None:
    found = [row.nonzero().flatten().tolist() for row in around(GUIDE)[0]]
    assert found == [[], [0, 1], [0, 1], [1, 2, 3], [3, 4], [3, 4, 5]]


def test_the_mass_is_the_share_of_attention_that_lies_there() -> None:
    even = mass(torch.zeros(1, 6, 4), torch.zeros(1, 6, 4), around(GUIDE))
    assert torch.allclose(even, torch.tensor([1, 2 / 3, 3 / 4, 2 / 5, 3 / 6]))


def test_a_head_that_looks_where_it_is_to_has_the_least_loss() -> None:
    where = around(GUIDE)
    keys, queries = torch.zeros(1, 1, 6, 8), torch.zeros(1, 2, 6, 8)
    keys[0, 0, :, :6] = torch.eye(6)
    queries[0, 1, :, :6] = 30 * where[0].float()
    watch = Watch(where, 1, every=True)
    watch(1, Heads(queries, keys, keys))
    assert float(watch.best) > 0.95  # of the second head
    astray = float(watch.loss)
    watch(1, Heads(queries.flip(1), keys, keys))
    assert float(watch.loss) < 0.1 < astray
