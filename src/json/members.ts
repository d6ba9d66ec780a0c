/** Members of objects whose names come from outside. */

/** Sets a member as plain data, whatever its name: assigning to `__proto__` would set the prototype instead. */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") {
    object[name] = value;
    return;
  }
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
