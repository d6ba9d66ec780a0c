/** The scenario table: the same work for all, in the words of each. A new scenario is one more line here. */
import { serial } from "../load/plan.ts";
import { requestText } from "../load/requests.ts";
import type { Says } from "../opponents/opponent.ts";
import { authorOf, authors } from "../ratios/articles.ts";
import { attributesOf } from "./data.ts";

/** The input of a scenario. */
export interface Setting {
  says: Says;
  origin: string;
  /** Articles that stay. */
  ids: readonly string[];
  /** Articles that nothing else needs, of this round. */
  doomed: readonly string[];
  bytes: number;
}

/** A kind of request, or a mixture. */
export interface Scenario {
  name: string;
  title: string;
  /** The statuses that count as done. */
  statuses: readonly string[];
  requests(setting: Setting): Promise<string[]> | string[];
  /** Whether each request can be sent but once. */
  once?: boolean;
  /** Whether all responses are equal, so that the limit with a constant response can be compared. */
  isConstant: boolean;
}

const some = 2_000;

/** So many articles fit into the memory of every service. */
const hot = 5_000;

/** The most articles that a load of reads is drawn from. */
const mostDrawn = 300_000;

const ok = ["200"];

/** The scenarios. Reads come before writes, so that they see the original articles. */
export const scenarios: readonly Scenario[] = [
  { name: "read", title: "read by id, hot ids", statuses: ok, isConstant: true, requests: hotReads },
  { name: "cold", title: "read by id, cold ids", statuses: ok, isConstant: true, requests: coldReads },
  {
    name: "notModified",
    title: "read, unchanged (304)",
    statuses: ["304"],
    isConstant: true,
    requests: conditional,
  },
  { name: "list", title: "page of 20", statuses: ok, isConstant: true, requests: (s) => [get(s.says.page)] },
  {
    name: "filtered",
    title: "page of 20, filtered and sorted",
    statuses: ok,
    isConstant: true,
    requests: filtered,
  },
  {
    name: "mixed",
    title: "90 reads, 10 replacements",
    statuses: ["200", "204"],
    isConstant: false,
    requests: mixed,
  },
  { name: "replace", title: "replace", statuses: ["200", "204"], isConstant: true, requests: replacements },
  { name: "patch", title: "merge patch", statuses: ["200", "204"], isConstant: true, requests: patches },
  { name: "create", title: "create", statuses: ["201", "200"], isConstant: true, requests: creates },
  {
    name: "delete",
    title: "delete",
    statuses: ["200", "204", "205"],
    isConstant: true,
    once: true,
    requests: deletes,
  },
];

/** A scenario by its name. */
export function scenarioOf(name: string): Scenario {
  const found = scenarios.find((each) => each.name === name);
  if (found === undefined) throw new Error(`unknown scenario: ${name}`);
  return found;
}

function get(path: string): string {
  return requestText("GET", path);
}

/** Few articles, which a service with a cache soon has in memory. */
function hotReads(setting: Setting): string[] {
  return reads(setting, hot);
}

/** Articles from the whole collection, so that few are read twice. */
function coldReads(setting: Setting): string[] {
  return reads(setting, mostDrawn);
}

function reads({ says, ids }: Setting, most: number): string[] {
  return Array.from({ length: Math.min(most, ids.length) }, (_, n) => get(says.item(scattered(ids, n))));
}

/** Not in the order in which they were made. */
function scattered(ids: readonly string[], n: number): string {
  return ids[(n * 7_919) % ids.length] as string;
}

/** With the tags that the service gives now. */
function conditional({ says, ids, origin }: Setting): Promise<string[]> {
  return Promise.all(
    ids.slice(0, 500).map(async (id) => {
      const answer = await fetch(origin + says.item(id));
      await answer.arrayBuffer();
      return requestText("GET", says.item(id), undefined, {
        "If-None-Match": answer.headers.get("etag") ?? "",
      });
    }),
  );
}

function filtered({ says }: Setting): string[] {
  return Array.from({ length: authors }, (_, n) => get(says.filtered(authorOf(n))));
}

function mixed(setting: Setting): string[] {
  const all = hotReads(setting);
  return replacements(setting)
    .flatMap((write, n) => [...all.slice(n * 9, n * 9 + 9), write])
    .slice(0, all.length);
}

/** Each sending has another title, because a write of the same state changes nothing. */
function written(n: number, bytes: number): Record<string, unknown> {
  return { ...attributesOf(n, bytes), title: `A title of an article that was written as ${serial}` };
}

function replacements({ says, ids, bytes }: Setting): string[] {
  return Array.from({ length: some }, (_, n) => {
    const id = scattered(ids, n);
    // A PATCH does not repeat the id. PocketBase has another one, and refuses this one.
    const body = JSON.stringify({ ...(says.replace === undefined && { id }), ...written(n, bytes) });
    return requestText(says.replace ?? "PUT", says.item(id), body, says.headers);
  });
}

function patches({ says, ids }: Setting): string[] {
  const headers = { "Content-Type": says.patchType ?? "application/json", ...says.headers };
  return Array.from({ length: some }, (_, n) => {
    const body = JSON.stringify({ title: `A title that was patched as ${serial}`, rating: n % 5 });
    return requestText("PATCH", says.item(scattered(ids, n)), body, headers);
  });
}

function creates({ says, bytes }: Setting): string[] {
  return Array.from({ length: 500 }, (_, n) =>
    requestText("POST", says.collection, JSON.stringify(written(n, bytes)), says.headers),
  );
}

function deletes({ says, doomed }: Setting): string[] {
  return doomed.map((id) => requestText("DELETE", says.item(id)));
}
