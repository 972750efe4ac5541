"""Voices: which one speaks, and how a recording becomes one."""
