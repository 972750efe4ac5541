"""Names that the person has taught: how they are written, and how they are said."""
