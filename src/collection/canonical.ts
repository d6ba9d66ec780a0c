/** One text for each JSON value: equal values have equal texts, whatever the order of their members. */
export function canonicalText(value: unknown): string {
  return isInOrder(value) ? JSON.stringify(value) : sortedText(value);
}

/** Whether `JSON.stringify` writes the members of all objects in order. Looking is cheaper than writing. */
function isInOrder(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (!isInOrder(item)) return false;
    return true;
  }
  let last: string | undefined;
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(members)) {
    if ((last !== undefined && name < last) || !isInOrder(members[name])) return false;
    last = name;
  }
  return true;
}

/** As `JSON.stringify`, with the members in order. */
function sortedText(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sortedText).join(",")}]`;
  const members = value as Record<string, unknown>;
  const texts = Object.keys(members)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${sortedText(members[name])}`);
  return `{${texts.join(",")}}`;
}
