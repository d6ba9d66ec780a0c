/** The lookups of `store/core/past-page.ts` on PostgreSQL. */

import type { PastLookups } from "../../core/changed-resources.ts";
import { isDifference } from "../../core/superseded.ts";
import type { ChangedResource, ChangedTexts } from "../../port/change-log.ts";
import type { NumberedCollection } from "../tables/catalogue.ts";
import { keyOf } from "../tables/id-keys.ts";
import { selectHead } from "../tables/statements.ts";
import { type Run, toLoggedVersion, toStored } from "./reads.ts";
import { selectChains, selectChangeKeys, selectResources, selectSequenceAt } from "./statements.ts";

/** The limits of one statement: resources, and bytes of text. */
const chunk = { resources: 1_000, size: 2 * 1024 * 1024 };

/** The lookups that do not read the current list. */
export function pastPageLookups(collection: NumberedCollection, run: Run): PastLookups {
  const { number, idKind } = collection;
  const chainsOf = async (
    changed: readonly ChangedResource[],
    versionOf: (of: ChangedResource) => number,
  ) => {
    const ids = changed.map(({ id }) => id);
    const keys = ids.map((id) => keyOf(idKind, id));
    const { rows } = await run(
      selectChains(number, { ids, keys, versions: changed.map(versionOf) }, chunk.size),
    );
    const chains: { version: number; kept: string | null }[][] = [];
    for (const [place, version, kept] of rows) {
      const n = Number(place) - 1;
      chains[n] ??= [];
      chains[n].push({ version: Number(version), kept: kept ?? null });
    }
    return chains;
  };
  return {
    async sequences(at) {
      const [head, past] = await Promise.all([run(selectHead(number)), run(selectSequenceAt(number, at))]);
      return { current: Number(head.rows[0]?.[0] ?? 0), past: Number(past.rows[0]?.[0]) };
    },
    async changes(after, limit) {
      const { rows } = await run(selectChangeKeys(number, after, limit));
      return rows.map((row) => ({
        id: String(row[4]),
        ...toLoggedVersion(row),
        group: row[5] == null ? undefined : Number(row[5]),
      }));
    },
    async texts(changed, from, needsPresent) {
      const wanted = changed.slice(from, from + chunk.resources);
      const chains = await chainsOf(wanted, ({ version }) => version);
      const deleted = needsPresent ? wanted.slice(0, chains.length).filter(({ exists }) => !exists) : [];
      const ends = deleted.length === 0 ? [] : await chainsOf(deleted, ({ lastVersion }) => lastVersion);
      const last = new Map(ends.map((end, n) => [deleted[n]?.id, end[0]?.kept ?? undefined]));
      const unread = deleted[ends.length];
      const found = wanted.slice(0, unread === undefined ? chains.length : wanted.indexOf(unread));
      const needsCurrent = found.filter(
        ({ exists }, n) => exists && (needsPresent || isDifference(chains[n]?.at(-1)?.kept ?? "")),
      );
      const keys = needsCurrent.map(({ id }) => keyOf(idKind, id));
      const { rows } = keys.length === 0 ? { rows: [] } : await run(selectResources(number, keys));
      const current = new Map(rows.map((row) => toStored(collection, row)).map((each) => [each.id, each]));
      return found.map(
        ({ id }, n): ChangedTexts => ({
          chain: chains[n] ?? [],
          current: current.get(id),
          deleted: last.get(id),
        }),
      );
    },
  };
}
