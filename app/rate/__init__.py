"""The speaking rate: slider, readout and trace."""
