"""Messages between a host (window, command line) and the engine: two closed unions of plain frozen
values.

Invariant: every message can be pickled, so the engine can move to another process by replacing one
file. Every message about speech carries the number of its turn; a consumer drops messages of other
turns. Character spans index the reply's original text, times are milliseconds on the engine's
clock, rates are syllables per second (SPS).
"""
