"""Kafka's error codes and the exception by which a part of the broker asks for one.

The numbers and names are those of Apache Kafka 4.3; the sentences are ours and are what a person
reads in a log line or on a screen. *Retriable* is what a Java client does with the code: it asks
again, perhaps after fresh metadata. Nothing may be added here that Kafka does not have: a client
that meets an unknown number can only give up.
"""

from enum import IntEnum
from typing import Final, Self

RETRIABLE: Final = True
PERMANENT: Final = False


class ErrorCode(IntEnum):
    """What a response says about a request, or about a part of one.

    Each member carries ``retriable`` and ``meaning``, so that docs, messages and tests read the
    same table.
    """

    retriable: bool
    meaning: str

    def __new__(cls, code: int, retriable: bool = PERMANENT, meaning: str = "") -> Self:  # noqa: FBT001 - columns of the table
        member = int.__new__(cls, code)
        member._value_ = code
        member.retriable = retriable
        member.meaning = meaning
        return member

    UNKNOWN_SERVER_ERROR = -1, PERMANENT, "The server failed in a way it did not foresee."
    NONE = 0, PERMANENT, "No error."
    OFFSET_OUT_OF_RANGE = 1, PERMANENT, "The log does not hold the requested offset."
    CORRUPT_MESSAGE = 2, RETRIABLE, "A batch fails its checksum or lies about its size or contents."
    UNKNOWN_TOPIC_OR_PARTITION = 3, RETRIABLE, "This broker knows no such topic or partition."
    INVALID_FETCH_SIZE = 4, PERMANENT, "The number of bytes asked for makes no sense."
    LEADER_NOT_AVAILABLE = 5, RETRIABLE, "The partition has no leader at the moment."
    NOT_LEADER_OR_FOLLOWER = (
        6,
        RETRIABLE,
        "This broker does not lead, or not even hold, the partition.",
    )
    REQUEST_TIMED_OUT = 7, RETRIABLE, "The work was not done within the request's time limit."
    BROKER_NOT_AVAILABLE = 8, PERMANENT, "The broker asked about is not there."
    REPLICA_NOT_AVAILABLE = 9, RETRIABLE, "A replica of the partition is not there at the moment."
    MESSAGE_TOO_LARGE = 10, PERMANENT, "A batch is larger than the topic accepts."
    STALE_CONTROLLER_EPOCH = 11, PERMANENT, "The controller that asks has been replaced by another."
    OFFSET_METADATA_TOO_LARGE = 12, PERMANENT, "The note beside a committed offset is too long."
    NETWORK_EXCEPTION = 13, RETRIABLE, "The connection ended before the answer came."
    COORDINATOR_LOAD_IN_PROGRESS = 14, RETRIABLE, "The coordinator is still reading its state."
    COORDINATOR_NOT_AVAILABLE = (
        15,
        RETRIABLE,
        "No broker coordinates this group or transaction yet.",
    )
    NOT_COORDINATOR = 16, RETRIABLE, "Another broker coordinates this group or transaction."
    INVALID_TOPIC_EXCEPTION = (
        17,
        PERMANENT,
        "The topic name is not allowed, or the topic is internal.",
    )
    RECORD_LIST_TOO_LARGE = 18, PERMANENT, "The batches of one request do not fit into a segment."
    NOT_ENOUGH_REPLICAS = 19, RETRIABLE, "Too few replicas are in sync; nothing was written."
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = (
        20,
        RETRIABLE,
        "The records were written, but too few replicas are in sync to call them safe.",
    )
    INVALID_REQUIRED_ACKS = 21, PERMANENT, "acks must be 0, 1 or -1 (all)."
    ILLEGAL_GENERATION = 22, PERMANENT, "The group has moved on to another generation."
    INCONSISTENT_GROUP_PROTOCOL = (
        23,
        PERMANENT,
        "The member shares no protocol with the group, or named none.",
    )
    INVALID_GROUP_ID = 24, PERMANENT, "The group id is empty or not allowed."
    UNKNOWN_MEMBER_ID = 25, PERMANENT, "The group has no member with this id."
    INVALID_SESSION_TIMEOUT = 26, PERMANENT, "The session timeout is outside the broker's bounds."
    REBALANCE_IN_PROGRESS = 27, PERMANENT, "The group rebalances; its members must join again."
    INVALID_COMMIT_OFFSET_SIZE = 28, PERMANENT, "The committed offsets do not fit into one record."
    TOPIC_AUTHORIZATION_FAILED = 29, PERMANENT, "The principal may not do this to the topic."
    GROUP_AUTHORIZATION_FAILED = 30, PERMANENT, "The principal may not do this to the group."
    CLUSTER_AUTHORIZATION_FAILED = 31, PERMANENT, "The principal may not do this to the cluster."
    INVALID_TIMESTAMP = 32, PERMANENT, "A record's timestamp is too far from the broker's clock."
    UNSUPPORTED_SASL_MECHANISM = 33, PERMANENT, "The listener does not offer this SASL mechanism."
    ILLEGAL_SASL_STATE = (
        34,
        PERMANENT,
        "The request does not belong at this point of the handshake.",
    )
    UNSUPPORTED_VERSION = 35, PERMANENT, "The broker does not serve this version of the request."
    TOPIC_ALREADY_EXISTS = 36, PERMANENT, "A topic of this name exists."
    INVALID_PARTITIONS = 37, PERMANENT, "The number of partitions is not allowed."
    INVALID_REPLICATION_FACTOR = (
        38,
        PERMANENT,
        "The replication factor is below one or above the number of brokers.",
    )
    INVALID_REPLICA_ASSIGNMENT = 39, PERMANENT, "The replicas named for a partition make no sense."
    INVALID_CONFIG = 40, PERMANENT, "A configuration value is not allowed, or its name is unknown."
    NOT_CONTROLLER = 41, RETRIABLE, "Another node is the active controller."
    INVALID_REQUEST = 42, PERMANENT, "The request contradicts itself or the protocol."
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43, PERMANENT, "The stored record format cannot do this."
    POLICY_VIOLATION = 44, PERMANENT, "The cluster's policy forbids what was asked."
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45, PERMANENT, "The producer's sequence numbers have a gap."
    DUPLICATE_SEQUENCE_NUMBER = (
        46,
        PERMANENT,
        "The producer sent a batch that is already in the log.",
    )
    INVALID_PRODUCER_EPOCH = 47, PERMANENT, "The producer's epoch is older than the one in the log."
    INVALID_TXN_STATE = 48, PERMANENT, "The transaction is not in a state that allows this."
    INVALID_PRODUCER_ID_MAPPING = (
        49,
        PERMANENT,
        "The producer id does not belong to this transactional id.",
    )
    INVALID_TRANSACTION_TIMEOUT = (
        50,
        PERMANENT,
        "The transaction timeout is above the broker's bound.",
    )
    CONCURRENT_TRANSACTIONS = (
        51,
        RETRIABLE,
        "The last transaction of this producer is still ending.",
    )
    TRANSACTION_COORDINATOR_FENCED = (
        52,
        PERMANENT,
        "A newer transaction coordinator has taken over.",
    )
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = (
        53,
        PERMANENT,
        "The principal may not use this transactional id.",
    )
    SECURITY_DISABLED = 54, PERMANENT, "The cluster runs without the security feature asked for."
    OPERATION_NOT_ATTEMPTED = (
        55,
        PERMANENT,
        "Nothing was tried, since another part of the request failed.",
    )
    KAFKA_STORAGE_ERROR = 56, RETRIABLE, "The disk that holds the partition failed."
    LOG_DIR_NOT_FOUND = 57, PERMANENT, "The broker has no such log directory."
    SASL_AUTHENTICATION_FAILED = 58, PERMANENT, "The credentials were not accepted."
    UNKNOWN_PRODUCER_ID = (
        59,
        PERMANENT,
        "The partition remembers nothing of this producer any more.",
    )
    REASSIGNMENT_IN_PROGRESS = 60, PERMANENT, "The partition's replicas are being moved."
    DELEGATION_TOKEN_AUTH_DISABLED = 61, PERMANENT, "Delegation tokens are switched off."
    DELEGATION_TOKEN_NOT_FOUND = 62, PERMANENT, "The broker knows no such delegation token."
    DELEGATION_TOKEN_OWNER_MISMATCH = (
        63,
        PERMANENT,
        "The principal neither owns nor renews the token.",
    )
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = (
        64,
        PERMANENT,
        "Delegation tokens are not handed out over this kind of connection.",
    )
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65, PERMANENT, "The principal may not see this token."
    DELEGATION_TOKEN_EXPIRED = 66, PERMANENT, "The delegation token has expired."
    INVALID_PRINCIPAL_TYPE = 67, PERMANENT, "This type of principal is not supported."
    NON_EMPTY_GROUP = 68, PERMANENT, "The group still has members."
    GROUP_ID_NOT_FOUND = 69, PERMANENT, "There is no group of this name."
    FETCH_SESSION_ID_NOT_FOUND = 70, RETRIABLE, "The broker no longer keeps this fetch session."
    INVALID_FETCH_SESSION_EPOCH = 71, RETRIABLE, "The fetch session is at another epoch."
    LISTENER_NOT_FOUND = 72, RETRIABLE, "The leader has no listener like the one that was asked."
    TOPIC_DELETION_DISABLED = 73, PERMANENT, "The cluster does not allow topics to be deleted."
    FENCED_LEADER_EPOCH = 74, RETRIABLE, "The request's leader epoch is older than the partition's."
    UNKNOWN_LEADER_EPOCH = (
        75,
        RETRIABLE,
        "The request's leader epoch is newer than the partition's.",
    )
    UNSUPPORTED_COMPRESSION_TYPE = 76, PERMANENT, "The request's version knows no such compression."
    STALE_BROKER_EPOCH = 77, PERMANENT, "The broker has registered anew since it sent this."
    OFFSET_NOT_AVAILABLE = 78, RETRIABLE, "A new leader does not know its high watermark yet."
    MEMBER_ID_REQUIRED = 79, PERMANENT, "Join again with the member id in this response."
    PREFERRED_LEADER_NOT_AVAILABLE = (
        80,
        RETRIABLE,
        "The preferred leader cannot lead at the moment.",
    )
    GROUP_MAX_SIZE_REACHED = 81, PERMANENT, "The group has as many members as it may have."
    FENCED_INSTANCE_ID = 82, PERMANENT, "Another member has taken over this group instance id."
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83, RETRIABLE, "No replica that may lead is there."
    ELECTION_NOT_NEEDED = 84, RETRIABLE, "The partition already has the leader it should have."
    NO_REASSIGNMENT_IN_PROGRESS = 85, PERMANENT, "No move of the partition's replicas is under way."
    GROUP_SUBSCRIBED_TO_TOPIC = (
        86,
        PERMANENT,
        "The group consumes the topic whose offsets should go.",
    )
    INVALID_RECORD = 87, PERMANENT, "A record breaks a rule of the topic or of the record format."
    UNSTABLE_OFFSET_COMMIT = (
        88,
        RETRIABLE,
        "A transaction that commits these offsets is still open.",
    )
    THROTTLING_QUOTA_EXCEEDED = (
        89,
        RETRIABLE,
        "The quota is used up; ask again after the given time.",
    )
    PRODUCER_FENCED = 90, PERMANENT, "A newer producer uses the same transactional id."
    RESOURCE_NOT_FOUND = 91, PERMANENT, "The request names something that does not exist."
    DUPLICATE_RESOURCE = 92, PERMANENT, "The request names one thing twice."
    UNACCEPTABLE_CREDENTIAL = (
        93,
        PERMANENT,
        "The credential does not meet the rules for credentials.",
    )
    INCONSISTENT_VOTER_SET = 94, PERMANENT, "One of the two nodes is not among the quorum's voters."
    INVALID_UPDATE_VERSION = 95, PERMANENT, "The state has another version than the update expects."
    FEATURE_UPDATE_FAILED = 96, PERMANENT, "The feature levels could not be changed."
    PRINCIPAL_DESERIALIZATION_FAILURE = 97, PERMANENT, "A forwarded principal cannot be read."
    SNAPSHOT_NOT_FOUND = 98, PERMANENT, "The node does not have this snapshot."
    POSITION_OUT_OF_RANGE = 99, PERMANENT, "The position lies outside the snapshot."
    UNKNOWN_TOPIC_ID = 100, RETRIABLE, "This broker knows no topic with this id."
    DUPLICATE_BROKER_REGISTRATION = (
        101,
        PERMANENT,
        "Another live broker has registered this node id.",
    )
    BROKER_ID_NOT_REGISTERED = 102, PERMANENT, "No broker with this node id has registered."
    INCONSISTENT_TOPIC_ID = (
        103,
        RETRIABLE,
        "The partition's log belongs to a topic with another id.",
    )
    INCONSISTENT_CLUSTER_ID = 104, PERMANENT, "The request is meant for another cluster."
    TRANSACTIONAL_ID_NOT_FOUND = 105, PERMANENT, "The coordinator knows no such transactional id."
    FETCH_SESSION_TOPIC_ID_ERROR = (
        106,
        RETRIABLE,
        "The fetch session began with topic names and goes on with ids, or the reverse.",
    )
    INELIGIBLE_REPLICA = 107, PERMANENT, "A replica that may not be in sync was put into the ISR."
    NEW_LEADER_ELECTED = (
        108,
        PERMANENT,
        "The change was made and gave the partition another leader.",
    )
    OFFSET_MOVED_TO_TIERED_STORAGE = 109, PERMANENT, "The offset lives in tiered storage only."
    FENCED_MEMBER_EPOCH = 110, PERMANENT, "The member must give up its partitions and join anew."
    UNRELEASED_INSTANCE_ID = 111, PERMANENT, "Another member still holds this group instance id."
    UNSUPPORTED_ASSIGNOR = 112, PERMANENT, "The group has no such assignor."
    STALE_MEMBER_EPOCH = 113, PERMANENT, "The member must learn its epoch from a heartbeat first."
    MISMATCHED_ENDPOINT_TYPE = 114, PERMANENT, "A broker was asked for controllers, or the reverse."
    UNSUPPORTED_ENDPOINT_TYPE = 115, PERMANENT, "Endpoints of this type cannot be described."
    UNKNOWN_CONTROLLER_ID = 116, PERMANENT, "No controller has this node id."
    UNKNOWN_SUBSCRIPTION_ID = 117, PERMANENT, "The telemetry subscription has changed."
    TELEMETRY_TOO_LARGE = 118, PERMANENT, "The pushed metrics are larger than the broker accepts."
    INVALID_REGISTRATION = (
        119,
        PERMANENT,
        "The controller does not accept the broker's registration.",
    )
    TRANSACTION_ABORTABLE = 120, PERMANENT, "The transaction failed; abort it, then go on."
    INVALID_RECORD_STATE = 121, PERMANENT, "The record cannot be acknowledged in its present state."
    SHARE_SESSION_NOT_FOUND = 122, RETRIABLE, "The broker no longer keeps this share session."
    INVALID_SHARE_SESSION_EPOCH = 123, RETRIABLE, "The share session is at another epoch."
    FENCED_STATE_EPOCH = 124, PERMANENT, "The share group's state has moved on to another epoch."
    INVALID_VOTER_KEY = 125, PERMANENT, "The voter has another directory id than the request says."
    DUPLICATE_VOTER = 126, PERMANENT, "The node is a voter already."
    VOTER_NOT_FOUND = 127, PERMANENT, "The node is not a voter."
    INVALID_REGULAR_EXPRESSION = 128, PERMANENT, "The regular expression cannot be understood."
    REBOOTSTRAP_REQUIRED = 129, PERMANENT, "The client must start over from its bootstrap servers."
    STREAMS_INVALID_TOPOLOGY = 130, PERMANENT, "The streams topology contradicts itself."
    STREAMS_INVALID_TOPOLOGY_EPOCH = 131, PERMANENT, "The streams topology epoch is not allowed."
    STREAMS_TOPOLOGY_FENCED = 132, PERMANENT, "The group runs a newer streams topology."
    SHARE_SESSION_LIMIT_REACHED = (
        133,
        RETRIABLE,
        "The broker keeps as many share sessions as it may.",
    )


def error_code(number: int) -> ErrorCode:
    """The code of that number; UNKNOWN_SERVER_ERROR for one that Kafka does not have."""
    return _BY_NUMBER.get(number, ErrorCode.UNKNOWN_SERVER_ERROR)


_BY_NUMBER: Final = {code.value: code for code in ErrorCode}


class ApiError(Exception):
    """A client must get *code*, for the whole request or the part at hand.

    Raised where the condition is found and turned into a response field in one place, the handler.
    ``message`` goes into the response where the response has room for one; None leaves it null.
    """

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(code, message)
        self.code: Final = code
        self.message: Final = message

    def __str__(self) -> str:
        return f"{self.code.name}: {self.message or self.code.meaning}"
