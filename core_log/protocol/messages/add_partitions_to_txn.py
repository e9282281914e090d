"""Partitions joined to a transaction; since version 4 also brokers asking in batches (KIP-890)."""

# ruff: noqa: RUF012 - msgspec gives every message its own empty list

from typing import Annotated

from ..schema import (
    Message,
    WireStruct,
    array,
    boolean,
    int16,
    int32,
    int64,
    string,
    struct,
    versions,
)


class AddPartitionsToTxnTopic(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    partitions: Annotated[list[int], array(int32, "0+")] = []


class AddPartitionsToTxnTransaction(WireStruct, kw_only=True):
    transactional_id: Annotated[str, string("4+")] = ""
    producer_id: Annotated[int, int64("4+")] = 0
    producer_epoch: Annotated[int, int16("4+")] = 0
    verify_only: Annotated[bool, boolean("4+")] = False
    topics: Annotated[list[AddPartitionsToTxnTopic], array(struct, "4+")] = []


class AddPartitionsToTxnRequest(Message, kw_only=True):
    API_KEY = 24
    VERSIONS = versions("0-5")
    FLEXIBLE = versions("3+")

    transactions: Annotated[list[AddPartitionsToTxnTransaction], array(struct, "4+")] = []
    v3_and_below_transactional_id: Annotated[str, string("0-3")] = ""
    v3_and_below_producer_id: Annotated[int, int64("0-3")] = 0
    v3_and_below_producer_epoch: Annotated[int, int16("0-3")] = 0
    v3_and_below_topics: Annotated[list[AddPartitionsToTxnTopic], array(struct, "0-3")] = []


class AddPartitionsToTxnPartitionResult(WireStruct, kw_only=True):
    partition_index: Annotated[int, int32("0+")] = 0
    partition_error_code: Annotated[int, int16("0+")] = 0


class AddPartitionsToTxnTopicResult(WireStruct, kw_only=True):
    name: Annotated[str, string("0+")] = ""
    results_by_partition: Annotated[
        list[AddPartitionsToTxnPartitionResult], array(struct, "0+")
    ] = []


class AddPartitionsToTxnResult(WireStruct, kw_only=True):
    transactional_id: Annotated[str, string("4+")] = ""
    topic_results: Annotated[list[AddPartitionsToTxnTopicResult], array(struct, "4+")] = []


class AddPartitionsToTxnResponse(Message, kw_only=True):
    API_KEY = 24
    VERSIONS = versions("0-5")
    FLEXIBLE = versions("3+")

    throttle_time_ms: Annotated[int, int32("0+")] = 0
    error_code: Annotated[int, int16("4+", ignorable=True)] = 0
    results_by_transaction: Annotated[list[AddPartitionsToTxnResult], array(struct, "4+")] = []
    results_by_topic_v3_and_below: Annotated[
        list[AddPartitionsToTxnTopicResult], array(struct, "0-3")
    ] = []
