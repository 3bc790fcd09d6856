/** What this browser remembers: appearance and language. Read by `theme-boot.js` too. */

export type Theme = "system" | "light" | "dark";
export type Language = "system" | "en" | "zh";

interface Stored {
  theme: Theme;
  language: Language;
  sidebar: boolean;
}

const KEY = "openprogram.settings";
const defaults: Stored = { theme: "system", language: "system", sidebar: true };

function read(): Stored {
  const text = localStorage.getItem(KEY);
  if (text === null) return defaults;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return defaults; // another program's, or cut off: begin anew
  }
  return typeof value === "object" && value !== null ? { ...defaults, ...value } : defaults;
}

class Settings {
  readonly #stored = $state<Stored>(read());
  readonly #dark = matchMedia("(prefers-color-scheme: dark)");

  constructor() {
    this.#dark.addEventListener("change", () => this.#applyTheme());
    addEventListener("storage", (event) => {
      if (event.key !== KEY) return;
      Object.assign(this.#stored, read()); // another tab changed it
      this.#applyTheme();
    });
  }

  get theme(): Theme {
    return this.#stored.theme;
  }
  set theme(theme: Theme) {
    this.#write({ theme });
    this.#applyTheme();
  }

  get language(): Language {
    return this.#stored.language;
  }
  set language(language: Language) {
    this.#write({ language });
  }

  /** Whether the sidebar is shown where there is room for it. */
  get sidebar(): boolean {
    return this.#stored.sidebar;
  }
  set sidebar(sidebar: boolean) {
    this.#write({ sidebar });
  }

  #write(changes: Partial<Stored>): void {
    Object.assign(this.#stored, changes); // key by key: what depends on the language is not told of the sidebar
    localStorage.setItem(KEY, JSON.stringify(this.#stored));
  }

  #applyTheme(): void {
    const { theme } = this.#stored;
    const dark = theme === "dark" || (theme === "system" && this.#dark.matches);
    document.documentElement.dataset["theme"] = dark ? "dark" : "light";
  }
}

export const settings = new Settings();
