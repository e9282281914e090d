"""Words, errors, bounds and ports that every other part of the log shares."""
