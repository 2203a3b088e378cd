"""A reviewer's hour: claims are executed again from the printed value to the verdict, and a self-check is written.

`rerun` executes their notebooks as far as they are needed, `report` writes what came out.
"""
