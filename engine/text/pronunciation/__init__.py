"""How English words are given to espeak where it would not say them as a person does: other
scripts, capitals, verbs and nouns that are written alike.
"""
