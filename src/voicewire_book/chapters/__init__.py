"""What the notebooks of each part call: the paper's values, runs, recordings, figures and exercises."""
