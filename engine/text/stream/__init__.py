"""A reply on its way: deltas, marks and wishes for a pace taken out, words cut."""
