/** Arrow keys, Home and End move the focus among the elements that match `selector`. */
export function rove(event: KeyboardEvent, selector: string): void {
  const container = event.currentTarget as HTMLElement;
  const items = [...container.querySelectorAll<HTMLElement>(selector)].filter((item) => !item.matches(":disabled"));
  if (items.length === 0) return;
  const current = items.indexOf(document.activeElement as HTMLElement);
  const next = target(event.key, current, items.length);
  if (next === null) return;
  event.preventDefault();
  items[next]!.focus();
}

function target(key: string, current: number, count: number): number | null {
  switch (key) {
    case "ArrowDown":
      return (current + 1) % count;
    case "ArrowUp":
      return (current - 1 + count) % count;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return null;
  }
}
