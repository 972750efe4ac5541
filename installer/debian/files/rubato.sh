#!/bin/sh
# Starts the Rubato in force: /opt/rubato/current names its environment, see rubato(1).
# -I: whatever a person set up for Python elsewhere.
export RUBATO_LAUNCHER=/usr/bin/rubato
exec /opt/rubato/current/bin/python -I -m app "$@"
