"""Where attention is to lie when no alignment is given."""

import torch

from engine.nn.transformer import Heads
from engine.training.guide import Watch, mass
from engine.training.llmvox.alignment import on_words
from engine.tts.llmvox.config import NOTHING, TEXT_END, WORD

# Three words of one phone each, read in the first six tokens; the second is said from token 4 on,
# the third from token 6.
UNITS = torch.tensor([[7, WORD, 8, WORD, 9, WORD, TEXT_END, NOTHING]])
ONSETS = torch.tensor([[0, 1, 0, 0, 1, 0, 1, 0]])


def test_a_position_is_to_look_at_its_word_and_the_next_as_far_as_they_are_read() -> None:
    where = on_words(UNITS, ONSETS)[0]
    found = [[place for place in range(8) if row[place]] for row in where]
    assert found == [
        [0], [0, 1], [0, 1, 2], [0, 1, 2, 3], [2, 3, 4], [2, 3, 4, 5], [4, 5], [4, 5],
    ]  # fmt: skip


def test_the_mass_is_the_share_of_attention_that_lies_there() -> None:
    where = on_words(UNITS, ONSETS)
    even = mass(torch.zeros(1, 8, 4), torch.zeros(1, 8, 4), where)
    assert torch.allclose(even, torch.tensor([1, 1, 1, 1, 3 / 5, 4 / 6, 2 / 7, 2 / 8]))


def test_a_head_that_looks_at_its_word_has_the_least_loss() -> None:
    where = on_words(UNITS, ONSETS)
    keys, queries = torch.zeros(1, 1, 8, 8), torch.zeros(1, 2, 8, 8)
    keys[0, 0] = torch.eye(8)
    queries[0, 1] = 30 * where[0].float()
    watch = Watch(where, 1, every=True)
    watch(1, Heads(queries, keys, keys))
    assert float(watch.best) > 0.95  # of the second head
    astray = float(watch.loss)
    watch(1, Heads(queries.flip(1), keys, keys))
    assert float(watch.loss) < 0.1 < astray
