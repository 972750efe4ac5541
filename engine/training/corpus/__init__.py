"""The corpus: texts, speakers, utterances, shards."""
