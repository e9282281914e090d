"""Taking records off a log's end, as a follower does that has other ones than its leader."""

from bisect import bisect_right

from .compacting import end_cleaning
from .state import LogState, base_offset_of


def truncate_to(log: LogState, offset: int) -> None:
    """See PartitionLog.truncate_to."""
    if offset < log.log_start_offset:
        truncate_fully_and_start_at(log, offset)
        return
    log.write()
    log.check_online()
    if offset >= log.log_end_offset:
        return
    if log.cleaning is not None and offset < log.cleaning.end_offset:
        end_cleaning(log)
    index = max(bisect_right(log.segments, offset, key=base_offset_of) - 1, 0)
    with log.translated():
        log.remove_files(log.segments[index + 1 :])
        del log.segments[index + 1 :]
        log.active = log.segments[index]
        end_offset = log.active.truncate_to(offset)
        _ends_at(log, end_offset)
    log.unflushed.truncated(log.active)
    if end_offset < log.log_start_offset:  # which lies within the batch that was cut
        truncate_fully_and_start_at(log, log.log_start_offset)


def truncate_fully_and_start_at(log: LogState, offset: int) -> None:
    """Remove everything; the next record gets *offset*. Durable when it returns; blocks."""
    log.write()
    log.check_online()
    end_cleaning(log)
    with log.translated():
        old = [segment for segment in log.segments if segment.base_offset != offset]
        log.remove_files([segment for segment in log.segments if segment.base_offset == offset])
        log.segments = [log.new_segment(offset, log.volume.clock.now_ms())]
        log.active = log.segments[0]
        log.active.create()
        log.volume.fs.sync_directory(log.path)
        log.remove_files(old)
        log.log_start_offset = offset
        _ends_at(log, offset)
        log.volume.fs.sync_directory(log.path)
    log.unflushed.truncated()
    log.flushed_offset = offset


def _ends_at(log: LogState, offset: int) -> None:
    log.unwritten, log.pending_bytes = [], 0
    if log.cleaned_offset is not None:
        log.cleaned_offset = min(log.cleaned_offset, offset)
    log.unsaved = [segment for segment in log.unsaved if segment in log.segments[:-1]]
    log.log_end_offset = log.written_offset = offset
    log.flushed_offset = min(log.flushed_offset, offset)
    log.restore_derived()
