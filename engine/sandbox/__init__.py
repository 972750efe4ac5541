"""A separate process for untrusted files, with limits on memory, time and output."""
