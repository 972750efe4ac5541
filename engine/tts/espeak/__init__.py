"""The formant voice that needs no weights: libespeak-ng in process, spoken word by word.

library   ctypes binding, the one place that knows libespeak-ng's memory and events
voices    our voice files on espeak's languages
phrasing  words -> pieces, and the context each piece is spoken in
cutting   the samples of one piece in the speech of its context
joining   pieces -> one wave without clicks, and slowing down beyond espeak's slowest rate
pace      syllables per second <-> espeak's words per minute
session   one utterance
model     the TtsModel that the registry returns
"""
