/** Typed messages: a missing key or a missing value is a type error. */

type Placeholders<S extends string> = S extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;

export type Values<S extends string> = [Placeholders<S>] extends [never]
  ? []
  : [values: Record<Placeholders<S>, string | number>];

/** Fill `{name}` placeholders. */
export function fill(template: string, values: Readonly<Record<string, string | number>> | undefined): string {
  if (values === undefined) return template;
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? String(values[name]) : whole));
}
