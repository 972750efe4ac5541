"""SpeakStream: words and their speech take turns in one sequence."""
