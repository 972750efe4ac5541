"""From files to a model that runs: published weights, packs, a pick of precision."""
