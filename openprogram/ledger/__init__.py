"""What each request cost and what the cache did in it."""
