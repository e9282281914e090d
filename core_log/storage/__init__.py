"""Part of the log: storage."""
