"""Trains the starter voice from speech that free synthesisers make on this machine.

corpus -> codec, speaker -> encode -> voice -> evaluate -> export, each started by
`python -m engine.training STAGE RECIPE.toml`. Nobody imports this package and the installer leaves
it out; what it trains runs on `engine.codec` and `engine.tts.voxtream`.
"""
