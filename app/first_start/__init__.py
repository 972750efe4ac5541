"""The first start: one card, four short steps."""
