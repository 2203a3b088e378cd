"""Cancelling what was recorded: files, delays, drift, live sound, a report."""
