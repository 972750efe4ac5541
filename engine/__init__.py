"""The engine: hears, thinks and speaks. No Qt anywhere below this package.

Importing it does one thing, the only one in this house: it switches telemetry off. ONNX Runtime
decides while it is loaded, and however the program starts, this file runs before that.
"""

from engine import telemetry

telemetry.switch_off()
