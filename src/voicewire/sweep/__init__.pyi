from voicewire.sweep.arguments import add_sweep_arguments
from voicewire.sweep.fingerprint import ContentError
from voicewire.sweep.runner import Row, sweep, task_rng
from voicewire.sweep.workers import SweepError, WorkerDiedError

__all__ = [
    "ContentError", "Row", "SweepError", "WorkerDiedError", "add_sweep_arguments", "sweep", "task_rng",
]  # fmt: skip
