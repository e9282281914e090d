"""Records in the logs of coordinators and of the quorum, and what clients put into groups."""
