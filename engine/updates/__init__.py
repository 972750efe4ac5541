"""New versions of the program, looked for when asked and taken only with the right signatures.

Invariant: there is no update without a trusted root, and no root is part of the program until its
keys have been made; whatever is served or breaks off, the program in force stays as it is until the
new one was made beside it and tried.
"""

from engine.updates.client import Offer
from engine.updates.updates import Look, State, Updates

__all__ = ["Look", "Offer", "State", "Updates"]
