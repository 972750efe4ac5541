"""SMLLE: a transducer says tokens or waits for text, a second network turns them into spectra."""
