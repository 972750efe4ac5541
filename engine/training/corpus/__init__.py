"""What the voice learns from: texts, speakers, utterances, shards."""
