"""Rubato beyond its window: one instance, the command line, tray, notifications, global keys."""
