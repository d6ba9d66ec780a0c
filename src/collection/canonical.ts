/** One text for each JSON value: equal values have equal texts, whatever the order of their members. */
export function canonicalText(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value) text += `${canonicalText(item)},`;
    return `[${text}]`;
  }
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members).sort())
    text += `${JSON.stringify(name)}:${canonicalText(members[name])},`;
  return `{${text}}`;
}
