/** What a chat says beside its messages: quiet lines and error cards. */
import type { ErrorInfo, ErrorRaised, Notice } from "../../protocol.gen";

/** A quiet line or an error card that belongs behind a message. */
export interface Note {
  readonly afterId: string | null;
  readonly code: string;
  readonly message: string;
  readonly error: ErrorInfo | null;
}

/** As many as the server keeps, so that a reload shows the same. */
const NOTES_KEPT = 20;

export function noteOf(afterId: string | null, event: Notice | ErrorRaised): Note {
  return event.type === "error"
    ? { afterId, code: event.error.code, message: event.error.message, error: event.error }
    : { afterId, code: event.code, message: event.message, error: null };
}

export function withNote(notes: readonly Note[], note: Note): readonly Note[] {
  return [...notes, note].slice(-NOTES_KEPT);
}

/** The notes without the newest where it tells of the error that the outcome shows: why the turn could not start. */
export function withoutTold(notes: readonly Note[], error: ErrorInfo | null): readonly Note[] {
  const last = notes.at(-1)?.error;
  return error !== null && last?.code === error.code && last.message === error.message ? notes.slice(0, -1) : notes;
}
