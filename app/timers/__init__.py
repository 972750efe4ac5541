"""Running timers, alarms and reminders, as cards that count down."""
