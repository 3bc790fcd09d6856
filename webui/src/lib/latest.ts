/** A look at something that changes: one at a time, and one more where something changed meanwhile. */
export class Latest {
  readonly #look: () => Promise<void>;
  #under: Promise<void> | null = null;
  #again = false;

  constructor(look: () => Promise<void>) {
    this.#look = look;
  }

  /** Look, now or as soon as the look that is under way is done. */
  want(): void {
    if (this.#under !== null) this.#again = true;
    else this.#under = this.#run();
  }

  /** Once all that was wanted so far has been looked at. */
  async settled(): Promise<void> {
    await Promise.resolve(); // what is changed now is wanted after this
    await this.#under;
  }

  async #run(): Promise<void> {
    try {
      do {
        this.#again = false;
        await this.#look();
      } while (this.#again);
    } finally {
      this.#under = null;
    }
  }
}
