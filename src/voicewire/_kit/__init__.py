"""What the rooms of this package share. Nobody imports it from outside."""
