"""Parts that the papers' systems share: sessions in passages, positions of words, voices, and the
synthesiser.
"""
