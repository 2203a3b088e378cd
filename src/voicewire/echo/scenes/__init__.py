"""Rooms and talkers: impulse responses, speech, signals with a known echo."""
