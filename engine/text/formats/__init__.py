"""Rules for tokens of a fixed format: identifiers, scripture, dates with dashes, rates."""
