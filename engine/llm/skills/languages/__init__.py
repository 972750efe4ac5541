"""Commands and small talk in Spanish, Italian, Portuguese and French, from a table each."""
