/** The resources in tests of the costs of `embed`. */

/** An attribute with a text. */
export const text = { type: "string" } as const;
/** An attribute with ids. */
export const idList = { type: "array", items: text } as const;

/** Small objects: the shape of JSON that takes the longest to read. */
export const objects = { type: "array", items: { type: "object", additionalProperties: true } } as const;

/** A resource. */
export type Seed = { id: string } & Record<string, unknown>;

/** Resources that have so many bytes together, most of them in `objects`. `own` makes the other attributes. */
export function seeds(
  count: number,
  bytes: number,
  own: (n: number) => Record<string, unknown> = () => ({}),
): Seed[] {
  return Array.from({ length: count }, (_, n) => {
    const bare = { id: idOf(n), ...own(n), objects: [] };
    const left = Math.floor(bytes / count) - JSON.stringify(bare).length;
    return { ...bare, objects: Array.from({ length: Math.max(0, Math.floor(left / 8)) }, () => ({ b: 1 })) };
  });
}

/** The id of the resource with this number. */
export const idOf = (n: number) => `id${String(n).padStart(4, "0")}`;
