"""Sets Rubato up on a machine: system libraries, an environment of its own, the right torch.

Invariant: standard library only, and nothing outside .venv is changed but the system packages that
are missing, which are named before they are installed, and the person's own menu, which gets an
entry.
"""
