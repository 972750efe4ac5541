"""SMLLE's own learners: semantic tokens, the transducer with its lattice, and the spectrum."""
