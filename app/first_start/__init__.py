"""The first start: one card, five short steps."""
