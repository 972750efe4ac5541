"""From language-model deltas to words that can be spoken."""
