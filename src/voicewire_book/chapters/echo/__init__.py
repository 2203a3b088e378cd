"""What the notebooks on stereophonic echo cancellation call."""
