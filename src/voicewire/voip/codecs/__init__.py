"""Codecs, and what is heard of a call."""
