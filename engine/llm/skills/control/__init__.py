"""Control of the assistant's own speech by voice: pace, loudness, silence."""
