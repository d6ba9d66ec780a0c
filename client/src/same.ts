/** Whether a resource has the state that a replace would give it. Timestamps from the service can differ. */
export function isSameState(current: object, wanted: object): boolean {
  const [a, b] = [current, wanted].map((resource) => {
    const { createdAt: _, updatedAt: __, ...attributes } = resource as Record<string, unknown>;
    return attributes;
  });
  return isSame(a, b);
}

/** Whether two JSON values are equal. The order of members does not matter. */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = definedNames(a);
  return (
    names.length === definedNames(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame(memberOf(a, name), memberOf(b, name)))
  );
}

/** The names of members that JSON includes. It leaves out `undefined`. */
function definedNames(value: object): string[] {
  return Object.keys(value).filter((name) => memberOf(value, name) !== undefined);
}

function memberOf(value: object, name: string): unknown {
  return (value as Record<string, unknown>)[name];
}
