"""Kokoro-82M, spoken word by word at a rate that changes while it speaks.

The stages of a word: symbols.py (phones to the model's symbols), durations.py (frames of each
symbol at the requested rate), plan.py (pitch and features of the known part of a sentence),
windows.py (samples of some frames), session.py (the utterance). parts.py runs the networks; graph/
cuts them out of the published graph, once. resemblance.py makes a voice of a recording, with the
delivery of voices.py; fit/ makes it more like the recording.
"""
