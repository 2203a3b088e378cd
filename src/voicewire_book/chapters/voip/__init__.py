"""What the notebooks on voice over IP call."""
