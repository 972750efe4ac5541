"""The ways in: each file answers one kind of client, and all of them share the service."""
