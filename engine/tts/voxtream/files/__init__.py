"""Loading: published weights, packs, and the precision picked for this machine."""
