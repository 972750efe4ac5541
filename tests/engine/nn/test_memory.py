"""When Python looks for objects that nobody reaches."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
CODE = """
import gc
from engine.nn.memory import collect_all, collect_all_at_the_end, collect_young_only
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


def test_it_goes_through_what_was_loaded_neither_while_loading_nor_later() -> None:
    command = [sys.executable, "-c", CODE]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    words = done.stdout.split()
    assert words[:2] == ["True", "True"]
    assert words[2] == "0"
    assert words[3:] == ["True", "True", "False", "True", "0"]
