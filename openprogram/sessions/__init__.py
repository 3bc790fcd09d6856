"""Chats as they live: what actions do to them, one supervised run at a time, and recovery after a crash."""
