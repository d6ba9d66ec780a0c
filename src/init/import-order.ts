/** The order of several imports: what is referred to comes first. */

/** Collections that one command imports together. Those of one command can refer to each other. */
export interface Unit {
  names: readonly string[];
}

/** The units in an order in which each can be imported, and the references that no order allows: those of a cycle. */
export interface Order<U extends Unit> {
  units: readonly U[];
  late: readonly { from: string; to: string }[];
}

/** Orders units. `targets`: the collections that a collection refers to. */
export function orderUnits<U extends Unit>(
  units: readonly U[],
  targets: (name: string) => readonly string[],
): Order<U> {
  const left = [...units];
  const ordered: U[] = [];
  const known = new Set<string>();
  const late: { from: string; to: string }[] = [];
  const missingFor = ({ names }: U) =>
    names.flatMap((from) =>
      targets(from)
        .filter((to) => !known.has(to) && !names.includes(to))
        .map((to) => ({ from, to })),
    );
  while (left.length > 0) {
    const ready = left.findIndex((unit) => missingFor(unit).length === 0);
    const [next] = left.splice(Math.max(ready, 0), 1) as [U];
    late.push(...missingFor(next));
    ordered.push(next);
    for (const name of next.names) known.add(name);
  }
  return { units: ordered, late };
}
