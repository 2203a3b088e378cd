"""What the notebooks on pharyngealized consonants call."""
