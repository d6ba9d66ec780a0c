/** Whether a resource is in the state that it was to be replaced by; the service's own timestamps may differ. */
export function isSameState(current: object, wanted: object): boolean {
  const [a, b] = [current, wanted].map((resource) => {
    const { createdAt: _, updatedAt: __, ...attributes } = resource as Record<string, unknown>;
    return attributes;
  });
  return isSame(a, b);
}

/** Whether two JSON values are the same, in whatever order their members are. */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = definedNames(a);
  return (
    names.length === definedNames(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSame(memberOf(a, name), memberOf(b, name)))
  );
}

/** JSON leaves out what is undefined. */
function definedNames(value: object): string[] {
  return Object.keys(value).filter((name) => memberOf(value, name) !== undefined);
}

function memberOf(value: object, name: string): unknown {
  return (value as Record<string, unknown>)[name];
}
