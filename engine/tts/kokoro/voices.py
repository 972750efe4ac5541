"""The names of Kokoro's voices."""

NAMES = ("af_heart",)
