from voicewire.sweep.fingerprint import ContentError
from voicewire.sweep.pools import SweepError, WorkerDiedError
from voicewire.sweep.running import Row, add_sweep_arguments, sweep, task_rng

__all__ = [
    "ContentError", "Row", "SweepError", "WorkerDiedError", "add_sweep_arguments", "sweep", "task_rng",
]  # fmt: skip
