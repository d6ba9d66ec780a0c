/** How much of a wrong value a message shows. */
const maxShown = 80;

/** A wrong value for a message, in one line. */
export function shown(value: unknown): string {
  const text = typeof value === "bigint" ? `${value}n` : (JSON.stringify(value) ?? typeof value);
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}
