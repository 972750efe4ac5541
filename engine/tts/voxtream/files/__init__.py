"""From files to a model that runs: published weights, packs, profiles."""
