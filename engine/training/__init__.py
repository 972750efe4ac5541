"""Training of the built-in voice and the papers' systems on speech of free synthesisers.

A recipe names its system; the package of that name lists its stages. `python -m engine.training
STAGE RECIPE.toml` runs one of them, `all` those that are not done. `compare` measures all systems
and goes on where it was stopped: `--only sentences,delays` measures the parts whose names begin
like that, `--quick` takes a few sentences of everything. No other package imports this one, and the
installer leaves it out; the voices run on `engine.codec` and `engine.tts`.
"""
