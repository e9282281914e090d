"""What a node knows about a partition it replicates. Pure: facts in, facts out."""
