"""Input for espeak where it would mispronounce English text: other scripts, capitals,
heteronyms.
"""
