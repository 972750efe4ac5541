"""Timers, alarms and reminders that run, as cards that count down."""
