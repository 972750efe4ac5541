"""The time, here and elsewhere, and days: their names, their dates and how far away they are."""
