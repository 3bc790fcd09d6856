"""The prompt around the conversation: system blocks in tiers, and the program's own notices in the newest message."""
