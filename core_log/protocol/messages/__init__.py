"""The requests and responses of Kafka 4.3, one module per API key, and the headers before them.

Keys 4 to 7 (LeaderAndIsr, StopReplica, UpdateMetadata, ControlledShutdown) are gone from Kafka 4
and have no module. Nothing is imported here: a process pays only for the messages it uses.
"""
