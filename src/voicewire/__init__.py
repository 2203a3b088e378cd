"""Voice to Wire: the package behind an executable textbook of published studies.

The upper floor holds one subpackage for each study (``parts.toml`` lists them);
the ground floor holds what several of them share. A study imports only from itself and from the ground floor.
"""

__version__ = "0.1.0"
