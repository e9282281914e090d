"""Part of the log: transactions."""
