/** Put a fixed panel above its anchor, or below where there is more room, inside the window. */
const GAP = 6;
const MARGIN = 8;

export function place(panel: HTMLElement, anchor: HTMLElement, align: "start" | "end"): void {
  const box = anchor.getBoundingClientRect();
  const above = box.top - GAP - MARGIN;
  const below = innerHeight - box.bottom - GAP - MARGIN;
  const up = above >= Math.min(panel.scrollHeight, 420) || above >= below;
  panel.style.maxHeight = `${Math.max(160, Math.min(560, up ? above : below))}px`;
  const width = panel.offsetWidth;
  const wanted = align === "start" ? box.left : box.right - width;
  panel.style.left = `${Math.max(MARGIN, Math.min(wanted, innerWidth - width - MARGIN))}px`;
  panel.style.top = up ? "auto" : `${box.bottom + GAP}px`;
  panel.style.bottom = up ? `${innerHeight - box.top + GAP}px` : "auto";
}
