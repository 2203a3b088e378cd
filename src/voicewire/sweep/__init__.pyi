from voicewire.sweep.fingerprint import ContentError
from voicewire.sweep.runner import Row, add_sweep_arguments, sweep, task_rng
from voicewire.sweep.workers import SweepError, WorkerDiedError

__all__ = [
    "ContentError", "Row", "SweepError", "WorkerDiedError", "add_sweep_arguments", "sweep", "task_rng",
]  # fmt: skip
