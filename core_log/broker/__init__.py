"""What a broker does with a request: handlers over partitions, metadata and groups."""
