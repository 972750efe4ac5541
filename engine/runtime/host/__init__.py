"""Requests of a host that are not turns: settings, timers, status, learning."""
