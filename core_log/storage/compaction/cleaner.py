"""Cleaning a log: the newest record of each key stays, in new files beside the old ones."""

from ...kernel.ports import Clock, FileSystem
from .job import CleanJob, CleanResult, Pace


def clean(job: CleanJob, fs: FileSystem, *, clock: Clock, pace: Pace) -> CleanResult:
    """Do *job*: write and sync the ``.cleaned`` files of its partition; the originals stay.

    A file of that name left behind is overwritten. Damage gives a result with a fault. Raises
    OSError from the files, and CleanStopped when *pace* did; ``.cleaned`` files may be left then.
    The caller syncs the directory when it renames.
    """
    raise NotImplementedError
