"""The turn rules (facts in, orders out), the log, and the reply; no thread of its own."""
