"""The pieces of TCP that a session over the link runs."""
