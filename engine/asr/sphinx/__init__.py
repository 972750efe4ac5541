"""pocketsphinx, which comes with its model, made to expect what the skills understand."""
