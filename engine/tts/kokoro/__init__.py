"""Kokoro-82M, spoken word by word at a rate that changes while it speaks.

The way of a word: symbols.py (phones to the model's symbols), durations.py (frames of each symbol
at the rate asked for), plan.py (pitch and features of what is known of a sentence), windows.py
(samples of some frames), session.py (the utterance). What runs is in parts.py; graph/ cuts it out
of the published graph, once. A recording becomes a voice in resemblance.py, with the pitch, pace
and colour of delivery.py, and learns further in fit/.
"""
