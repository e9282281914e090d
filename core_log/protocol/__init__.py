"""Part of the log: protocol."""
