"""Trains the starter voice from speech that free synthesisers, or a teacher, make on this machine.

corpus -> codec, speaker -> encode -> voice -> draw -> decoder -> export -> evaluate, each started
by `python -m engine.training STAGE RECIPE.toml`; `decoder` needs the codec only where it does not
learn on what the voice draws, `baselines` the texts of the corpus only. `export` tunes the
rate table on the pack's own speech. `evaluate` measures in parts and goes on where it was stopped;
`--only sentences,speed` measures the parts that begin so, `--quick` a few sentences of everything,
and the table is printed each time. Nobody imports this package and the installer leaves it out;
what it trains runs on `engine.codec` and `engine.tts.voxtream`.
"""
