"""What was looked into once with the lab: scripts beside `seeker evaluate` and `seeker report`."""
