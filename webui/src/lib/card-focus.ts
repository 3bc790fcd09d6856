/** What the cards that ask have in common: how they take the focus, and which keys are theirs. */

/** `{@attach takeOver}`: takes the focus from a message box in which nothing is typed, so that keys answer at once. */
export function takeOver(card: HTMLElement): void {
  const at = document.activeElement;
  if (at === null || at === document.body || (at instanceof HTMLTextAreaElement && at.value === "")) card.focus();
}

/**
 * Whether a key may answer: not while a field has the focus, for a message may begin with a digit. `inputs` are those
 * that count as fields.
 */
export function isForCard(event: KeyboardEvent, inputs = "input"): boolean {
  return !(
    (event.target as HTMLElement).matches(`${inputs}, textarea, select, [contenteditable]`) ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    document.querySelector("dialog[open], [popover]:popover-open") !== null
  );
}
