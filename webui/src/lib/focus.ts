/** `{@attach focus}`: an element that appears takes the focus. The `autofocus` attribute only does where nothing has it. */
export function focus(element: HTMLElement): void {
  element.focus();
}
