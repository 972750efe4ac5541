"""The corpus of synthesised speech: texts, speakers, utterances, and shards (files) of them."""
