"""Part of the log: cli."""
