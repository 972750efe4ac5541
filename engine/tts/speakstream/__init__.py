"""SpeakStream: words and their speech taking turns in one sequence."""
