"""A card is looked for without importing torch."""

from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from engine import graphics_card as card


@pytest.mark.parametrize(
    ("text", "knows"),
    [("cuda: Optional[str] = None\n", False), ("cuda: Optional[str] = '13.0'\n", True)],
)
def test_a_torch_without_cuda_is_known_by_its_files(
    text: str, knows: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "version.py").write_text(text)
    spec = ModuleSpec("torch", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(card.importlib.util, "find_spec", lambda name: spec)
    assert card.knows_cuda() is knows
