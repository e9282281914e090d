"""Part of the log: broker."""
