"""A function over a grid of parameters and seeds: on this machine's processes, or on a Dask cluster.

Every finished task is kept at once under the content of function, parameters, seed and versions, so that a sweep
that was interrupted goes on where it stopped and one that is repeated costs nothing. A worker that dies costs only
the tasks it had. The rows are the same to the bit with one worker, with many, and on a cluster.

Example
-------
>>> from voicewire.sweep import sweep
>>> def wait(rng, rate):
...     return rng.exponential(1 / rate)
>>> rows = sweep(wait, grid={"rate": [1.0, 2.0]}, seeds=range(3))
>>> rows[0].params, rows[0].seed
({'rate': 1.0}, 0)
"""

from voicewire._kit.lazy import lazily

__all__ = [
    "ContentError", "Row", "SweepError", "WorkerDiedError", "add_sweep_arguments", "sweep", "task_rng",
]  # fmt: skip

__getattr__, __dir__ = lazily(__name__)
