"""Scripts that measure, each run by `python -m tests.benchmarks.NAME`."""

import engine  # noqa: F401 - before numpy, as in the program
