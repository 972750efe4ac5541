"""Neural codecs: codes to samples and back, frame by frame."""
