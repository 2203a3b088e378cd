"""Bounds and rules for the playout delay beside Ramjee's."""
