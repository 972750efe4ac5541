"""The systems of the papers side by side: one table, the same texts, the same clock."""
