"""Calls that were captured: RTP, clocks, their score."""
