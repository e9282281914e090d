"""Every admin operation, as a pure function of the image: records and a response come out.

None of them changes anything: the controller proposes the records, and the response leaves when
they are committed. Requests and responses are the wire's own messages, so that a request which
another broker forwards takes the same way. Error codes and messages are those of Apache Kafka 4.3,
looked up by asking one. This module only gathers; each subject has its own.
"""

from .alter_configs import alter_configs, incremental_alter_configs
from .decision import RECORDS_MAX, ControllerConfig, Decision
from .elections import elect_leaders
from .feature_updates import initial_features, update_features
from .nodes import (
    allocate_producer_ids,
    fence_broker,
    own_registration,
    register_broker,
    unfence_broker,
)
from .reassignments import alter_partition_reassignments, list_partition_reassignments
from .topics import create_partitions, create_topics, delete_topics

__all__ = [
    "RECORDS_MAX",
    "ControllerConfig",
    "Decision",
    "allocate_producer_ids",
    "alter_configs",
    "alter_partition_reassignments",
    "create_partitions",
    "create_topics",
    "delete_topics",
    "elect_leaders",
    "fence_broker",
    "incremental_alter_configs",
    "initial_features",
    "list_partition_reassignments",
    "own_registration",
    "register_broker",
    "unfence_broker",
    "update_features",
]
