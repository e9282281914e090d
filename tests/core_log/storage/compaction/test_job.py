"""Jobs and results cross the border of a process, and cost the broker's start nothing."""

import subprocess
import sys

import msgspec
import pytest

from headwater.core_log.storage.compaction.job import CleanFault, CleanJob, CleanResult

from .logs import CompactedLog


def test_a_job_and_its_result_travel_as_msgpack() -> None:
    log = CompactedLog()
    log.append([(b"a", b"1")], producer_id=1, is_transactional=True)
    log.end(1, is_commit=False)
    log.roll()
    job = log.job()
    assert job.aborted
    assert job.producers
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(job), type=CleanJob) == job
    result = log.clean()
    assert result.segments
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(result), type=CleanResult) == result
    failed = CleanResult(
        clean_until_offset=0, fault=CleanFault(file="f", position=1, reason="torn")
    )
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(failed), type=CleanResult) == failed
    assert str(failed.fault) == "f, byte 1: torn"


@pytest.mark.slow
@pytest.mark.parametrize("module", ["storage.compaction.job", "server.node"])
def test_who_only_hands_out_jobs_does_not_load_numpy(module: str) -> None:
    code = f"import headwater.core_log.{module}, sys; sys.exit('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=False)  # noqa: S603 - our own code
    assert done.returncode == 0
