"""From a sentence to an intent."""
