"""What the systems of the papers share: sessions in passages, their words' places, voices and their
synthesiser. They differ only where their papers differ.
"""
