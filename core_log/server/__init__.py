"""Part of the log: server."""
