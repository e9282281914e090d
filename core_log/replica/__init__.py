"""Part of the log: replica."""
