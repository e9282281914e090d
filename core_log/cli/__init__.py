"""Commands of the log: run a broker, and work with any Kafka-protocol cluster."""
