"""The formant voice that needs no weights: libespeak-ng in process, spoken word by word.

library       ctypes binding, the one place that knows libespeak-ng's memory and events
voices        our voice files on espeak's languages
phrasing      words -> pieces, and the context each piece is spoken in
cutting       one piece out of the speech of its context; pieces -> one wave, slowed if needed
articulation  pieces -> sound at a rate in syllables per second
model         the TtsModel that the registry returns, and one utterance
"""
