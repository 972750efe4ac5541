"""Echo cancellation: remove the loudspeaker's sound from the microphone's."""
