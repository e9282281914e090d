"""Part of the log: records."""
