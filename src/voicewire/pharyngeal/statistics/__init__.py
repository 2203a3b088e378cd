"""Statistics of vowels and of printed tables."""
