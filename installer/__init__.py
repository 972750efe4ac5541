"""Set Rubato up on a machine: system libraries, a separate environment, the right build of torch.

Invariant: standard library only. Outside .venv it changes only two things: it installs missing
system packages, which it names first, and it adds an entry to the user's menu.
"""
