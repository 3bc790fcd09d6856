"""The store in one SQLite file: WAL, one writer with group commit, readers that never wait for it.

store       SqliteStore: the protocol, in terms of the two below
writer      the queue, its task, and one transaction per group
readers     a few connections for single-statement reads
writes      one function per kind of write
reads       one function per question
sent        requests as they were sent, and what they cost
rows        database rows to values and back
schema      numbered migrations; migrate applies them
connection  pragmas, and whole functions on a connection's thread
faults      SQLite's errors as sentences for people
"""

from openprogram.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
