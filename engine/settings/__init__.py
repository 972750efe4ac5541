"""What the person may change: the table of it, and all that reads the table."""

from engine.settings.rules import *
from engine.settings.schema import *
from engine.settings.sections import *
