/** Reads the related resources that a filter looks at, for lists that are evaluated in memory. */
import { leavesOf, namesRelated, ownPathsOf, type StoreFilter, type TargetOf } from "../../query/filter.ts";
import { nameOfTarget, nextTargets, type Target, targetIn } from "../../query/targets.ts";
import type { Dialect } from "../sql/dialect.ts";
import type { Plan, Row, Value } from "../sql/plans.ts";
import { query } from "../sql/table.ts";
import { canBeId } from "./entries.ts";
import { type RelatedCollections, relatedCollection } from "./related.ts";

/** The related resources of one list. It reads each of them once, and keeps the attributes that the filter needs. */
export interface TargetReads {
  /** Whether the filter looks at related resources. */
  isNeeded: boolean;
  /** Reads what the filter looks at for these resources. */
  read(resources: readonly Record<string, unknown>[]): Plan<void>;
  /** Finds what was read. */
  targetOf: TargetOf;
}

/** Returns a function that makes the reads for one filter. Without a filter, there is nothing to read. */
export function createTargetReads(dialect: Dialect) {
  const { tablePrefix, keyColumn, doc, among } = dialect;
  const textOf = (number: number) =>
    query<[Value], readonly Row[]>(
      `select ${keyColumn}, ${doc} from ${tablePrefix}resources_${number} where ${among(keyColumn, 1)}`,
      (rows) => rows,
    );
  return (filter: StoreFilter | undefined, related: RelatedCollections = {}): TargetReads => {
    const known = new Map<string, Record<string, unknown> | undefined>();
    const names = filter === undefined ? [] : [...namesIn(filter)];

    function* readOf(name: string, targets: readonly Target[]): Plan<void> {
      const collection = relatedCollection(related, name);
      const ids = targets.map(({ id }) => id).filter(canBeId);
      for (const each of targets) known.set(nameOfTarget(each), undefined);
      if (collection === undefined || ids.length === 0) return;
      const { number, idKind } = collection;
      const rows = yield* textOf(number)(dialect.list(ids.map((id) => dialect.keyOf(idKind, id))));
      for (const [key, text] of rows) {
        const resource = JSON.parse(String(text)) as Record<string, unknown>;
        const part = names.flatMap((each) => (Object.hasOwn(resource, each) ? [[each, resource[each]]] : []));
        known.set(
          nameOfTarget({ collection: name, id: dialect.idOf(idKind, key) }),
          Object.fromEntries(part),
        );
      }
    }

    const isNeeded = namesRelated(filter);
    return {
      isNeeded,
      *read(resources) {
        if (filter === undefined || !isNeeded) return;
        for (;;) {
          const next = new Map<string, Target>();
          for (const each of resources)
            for (const target of nextTargets(filter, each, known)) next.set(nameOfTarget(target), target);
          if (next.size === 0) return;
          const byCollection = Map.groupBy(next.values(), ({ collection }) => collection);
          for (const [name, targets] of byCollection) yield* readOf(name, targets);
        }
      },
      targetOf: targetIn(known),
    };
  };
}

/** The names of all attributes that a filter looks at, in any of the resources. */
function namesIn(filter: StoreFilter, names = new Set<string>()): ReadonlySet<string> {
  for (const leaf of leavesOf(filter)) {
    for (const [name] of ownPathsOf(leaf)) names.add(name);
    if (leaf.kind === "related") namesIn(leaf.filter, names);
    if (leaf.kind !== "compares") continue;
    for (const { path, through = [] } of [leaf.left, leaf.right]) {
      names.add(path[0]);
      for (const each of through) namesIn(each, names);
    }
  }
  return names;
}
