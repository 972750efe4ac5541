"""The engine: hears, thinks and speaks. No Qt anywhere below this package.

Importing it does two things, the only ones in this house: it switches telemetry off (ONNX Runtime
decides while it is loaded) and lets modules that nobody asks for wait. However the program starts,
this file runs before what it means.
"""

from engine import deferred, telemetry

telemetry.switch_off()
deferred.defer()
