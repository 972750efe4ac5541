"""Timers, alarms and reminders: asked for here, counted by the runtime."""
