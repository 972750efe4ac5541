"""The voice of speech-dispatcher's clients, such as the screen reader Orca.

module        the program that the daemon starts: its protocol on standard input and output
message       SSML -> text, index marks, and whether it is spelt; its style
formant       espeak for keys, characters and labels, in the module's own process
links         the module's connections to the daemon and to its engine process
voice_process the engine process: one sentence after the other in the chosen voice
installation  install and remove the module for one person

Invariant: the module imports only small parts of the standard library (with them it speaks its
first key), and never waits for the engine process: espeak speaks what that cannot.
"""
