"""Part of the log: groups."""
