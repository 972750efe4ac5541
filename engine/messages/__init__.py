"""What a host (window, command line) and the engine say to each other: two closed unions of plain
frozen values.

Invariant: every message survives `pickle`, so the engine can move to its own process by replacing
one file. Every message about speech carries the number of its turn; a consumer drops messages of
another turn. Character spans index the reply's original text, times are milliseconds on the
engine's clock, rates are syllables per second (SPS).
"""
