"""The cluster's metadata: a log of records, the value they add up to, and the commands on it."""
