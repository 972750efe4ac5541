"""Kokoro-82M, spoken word by word at a rate that changes while it speaks.

The way of a word: symbols.py (phones to the model's symbols), durations.py (frames of each symbol
at the rate asked for), plan.py (pitch and features of what is known of a sentence), windows.py
(samples of some frames), session.py (the utterance). The published graph is read by published.py,
cut into parts by cut.py, and its decoder written anew by decoder_graph.py.
"""
