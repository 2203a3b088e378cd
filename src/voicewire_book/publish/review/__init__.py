"""A reviewer's hour: claims are executed again from the printed value to the verdict, and a self-check is written.

`groups` draws claims and sorts them by what was executed; `rerun` executes their notebooks until they are judged. In
the kernel `dependencies` watches what a verdict rests on, and `perturbations` judges once more with something changed.
`report` writes what came out.
"""
