"""Timers, alarms and reminders: understood here, run by the runtime."""
