"""Agreement on the metadata log: propose, committed. Today a quorum of one."""
