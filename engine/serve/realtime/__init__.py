"""A conversation over one WebSocket, in the events of OpenAI's Realtime interface."""
