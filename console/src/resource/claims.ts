/** Claims, as the access rules of a collection use them. */

/** The names of the claims in rules, such as `tenant` in `"$claims.tenant"`. */
export function claimNames(rules: unknown): string[] {
  const found = JSON.stringify(rules ?? null).matchAll(/"\$claims\.([^"\\]+)"/g);
  return [...new Set([...found].map(([, name]) => name as string))].slice(0, 10);
}

/** A claim that the user wrote: JSON such as `["a","b"]` or `7`, otherwise a text. */
export function claimValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
