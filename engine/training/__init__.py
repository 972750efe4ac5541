"""Trains the starter voice on speech that free synthesisers produce on this machine.

corpus -> codec, speaker -> encode -> voice -> draw -> decoder -> export -> evaluate, each started
by `python -m engine.training STAGE RECIPE.toml`. If `decoder` does not learn on the codes that the
voice draws, the codec is all it needs. `export` tunes the rate table on the pack's own speech.
`evaluate` measures in parts and goes on where it was stopped; `--only sentences,delays` measures
the parts whose names begin like that, `--quick` takes a few sentences of everything, and the table
is printed each time. No other package imports this one and the installer leaves it out; what it
trains runs on `engine.codec` and `engine.tts`.
"""
