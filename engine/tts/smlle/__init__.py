"""SMLLE: a transducer speaks tokens or waits for text, a second network turns tokens
into spectra.
"""
