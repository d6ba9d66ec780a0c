/** Members of objects whose names come from outside. */

/** Sets a member as plain data, whatever its name: assigning to `__proto__` would set the prototype instead. */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") {
    object[name] = value;
    return;
  }
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/** A copy of a JSON value that shares nothing with it. Recursion is as deep as the value, which must be bounded. */
export function cloneJson(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const copy = value.slice();
    for (let i = 0; i < copy.length; i++) {
      if (typeof copy[i] === "object") copy[i] = cloneJson(copy[i]);
    }
    return copy;
  }
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) setMember(copy, name, cloneJson(member));
  return copy;
}
