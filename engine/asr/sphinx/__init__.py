"""pocketsphinx with its own model, and a language model of the skills' sentences."""
