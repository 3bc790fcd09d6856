"""Names of the bus topics, shared by who publishes and who subscribes."""


def session_topic(session_id: str) -> str:
    """Events of one chat. Payload: their frames, in order, joined by newlines."""
    return f"session/{session_id}"


def user_topic(user_id: str) -> str:
    """Unnumbered hints for a user's sidebars. Payload: one hint frame, or an error that no log
    could hold; the seqs are 0."""
    return f"user/{user_id}"
