"""Speech and conversations without a window: `say`, `compare`, `converse`."""
