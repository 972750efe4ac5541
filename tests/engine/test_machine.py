"""When Python looks for objects that nobody reaches."""

from tests.help.process.fresh_python import prints

CODE = """
import gc
from engine.machine import collect_all, collect_all_at_the_end, collect_young_only
before = gc.get_threshold()
collect_young_only()
held = gc.get_threshold()
print(held[:2] == before[:2], held[2] > before[2], gc.get_freeze_count())
collect_all()
print(gc.get_threshold() == before, gc.get_freeze_count() > 0)
ring = []
ring.append(ring)
number = id(ring)
del ring
gc.collect()
print(any(id(found) == number for found in gc.get_objects()))
collect_young_only()
frozen = gc.get_freeze_count()
collect_all()
print(gc.get_freeze_count() == frozen)
collect_all_at_the_end()
print(gc.get_freeze_count())
"""


def test_it_goes_through_what_was_loaded_neither_while_loading_nor_later():
    assert prints(CODE).split() == ["True", "True", "0", "True", "True", "False", "True", "0"]
