"""Train the built-in voice and the papers' systems on speech of free synthesisers.

A recipe (a TOML file) names its system, and the package of that name lists the system's stages.
`python -m engine.training STAGE RECIPE.toml` runs one stage, `all` runs those that are not done.
`compare` measures all systems and continues where it was stopped: `--only sentences,delays`
measures only the parts whose names begin with these words. No other package imports this one, and
the installer leaves it out; the voices run on `engine.codec` and `engine.tts`.
"""
