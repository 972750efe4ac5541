"""The status: what is running, what went wrong, and where the time goes."""
