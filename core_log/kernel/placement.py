"""Which partition, and so which coordinator's shard, a group or a transactional id belongs to.

Every broker and tool must agree, so this is Kafka's formula: the absolute value of Java's
``String.hashCode`` of the id, modulo the number of partitions of __consumer_offsets or of
__transaction_state. Java's absolute value maps the smallest int to 0 here, since it has no positive
twin.
"""

from typing import Final

_INT_MIN: Final = -(2**31)
_UINT_RANGE: Final = 2**32


def partition_for(coordinated_id: str, partition_count: int) -> int:
    """The partition in [0, partition_count) that holds the records of this id."""
    code = java_hash(coordinated_id)
    return (0 if code == _INT_MIN else abs(code)) % partition_count


def java_hash(text: str) -> int:
    """Java's ``String.hashCode``: a signed 32-bit number over the UTF-16 units of *text*."""
    units = text.encode("utf-16-be", "surrogatepass")
    code = 0
    for index in range(0, len(units), 2):
        code = (31 * code + (units[index] << 8 | units[index + 1])) % _UINT_RANGE
    return code - _UINT_RANGE if code > -_INT_MIN - 1 else code
