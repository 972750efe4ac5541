"""The door of Home Assistant and its satellites: voice, ears, wake phrase and answers over TCP."""
