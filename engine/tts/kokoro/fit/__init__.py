"""A voice that learns from a recording: its timbre is fitted until the decoder reproduces the clip.

The stages: measuring.py (pitch, energy, levels, places of the sounds), decoder.py (Kokoro's decoder
in torch, with a trainable timbre), checks.py (unsuitable clips, fits that are worse than the
blend), learning.py (the steps).
"""
