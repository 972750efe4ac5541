"""The tables of cases.toml, by name."""

import tomllib
from pathlib import Path

CASES = tomllib.loads(Path(__file__).with_name("cases.toml").read_text("utf-8"))
