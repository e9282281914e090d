"""The log: a broker that Kafka clients take for Kafka, and what it is made of."""
