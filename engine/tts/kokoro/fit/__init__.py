"""A voice that learns from a recording: its timbre is fitted until the decoder says the clip.

The way of a clip: measuring.py (pitch, levels, colour), alignment.py (which sound is where),
decoder.py (Kokoro's decoder in torch, whose timbre may learn), fitting.py (the steps), checks.py
(clips that cannot be learnt, fits that are worse than the blend), learning.py (all of it).
"""
