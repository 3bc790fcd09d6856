/** Unique without a secure context: `crypto.randomUUID` is missing on plain http outside loopback. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `c_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
