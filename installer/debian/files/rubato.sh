#!/bin/sh
# Starts the current Rubato: /opt/rubato/current names its environment, see rubato(1).
# -I: ignores what a person set up for Python elsewhere.
export RUBATO_LAUNCHER=/usr/bin/rubato
exec /opt/rubato/current/bin/python -I -m app "$@"
