"""The settings: their table, and the code that reads it."""

from engine.settings.rules import *
from engine.settings.schema import *
from engine.settings.sections import *
from engine.settings.speech import *
