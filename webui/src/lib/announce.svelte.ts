/** One voice for screen readers: short sentences about what changed. Rendered once, in App. */

class Announcer {
  text = $state("");
  #turn = false;

  say(text: string): void {
    // The same words twice would not be read twice: a trailing no-break space makes them differ.
    this.#turn = !this.#turn;
    this.text = this.#turn ? text : `${text}\u00a0`;
  }
}

export const announcer = new Announcer();
