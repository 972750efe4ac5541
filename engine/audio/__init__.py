"""Samples: devices, files, levels, resampling, voice activity."""
