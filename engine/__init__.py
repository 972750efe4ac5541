"""The engine: hears, thinks and speaks. No Qt anywhere below this package."""
