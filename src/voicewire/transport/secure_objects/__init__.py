"""Secure objects (ICTO): format, roles, what they cost."""
