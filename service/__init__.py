"""What every process of Headwater shares: settings, secrets, logs, metrics, health, lifecycle.

Imports nothing else of ours; every other part's shell may import it.
"""
