"""The protocols: one file for each kind of client, all of which share the service."""
