"""What a host asks for that is no turn: settings, timers, status, say, converse."""
