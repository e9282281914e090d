"""Compaction of one partition's sealed segments: the newest record of each key stays."""
