"""Part of the log: testing."""
