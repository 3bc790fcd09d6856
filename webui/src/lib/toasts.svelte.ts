/** Short messages at the edge of the page, some with one thing to do about them. */

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: "plain" | "error";
  readonly action: { readonly label: string; readonly run: () => void } | null;
}

const SHOWN_MS = 8_000;

class Toasts {
  list = $state.raw<readonly Toast[]>([]);
  #next = 1;

  show(text: string, options: Partial<Pick<Toast, "tone" | "action">> = {}): void {
    const toast: Toast = { id: this.#next++, text, tone: options.tone ?? "plain", action: options.action ?? null };
    this.list = [...this.list.slice(-2), toast];
    setTimeout(() => this.dismiss(toast.id), SHOWN_MS);
  }

  dismiss(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }
}

export const toasts = new Toasts();
