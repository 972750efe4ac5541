"""The page of settings is what the schema says."""

from pathlib import Path

from engine.settings import schema
from engine.settings.page import page

PAGE = Path(__file__).parents[2] / "resources" / "pages" / "settings.md"


def test_the_page_is_as_the_schema_makes_it():
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make words`"


def test_every_setting_says_what_it_is():
    assert [each.key for each in schema().values() if not each.rows and not each.about] == []
