"""What the studies stand on, each taught once: no paper, no ledger.

`judging` is the arithmetic of the chapter *Measuring and judging*, `figures` its pictures, `exercises` its checks.
"""
