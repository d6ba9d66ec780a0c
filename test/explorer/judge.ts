/** Opens an image of the disk with the service's own code, and looks whether everything that was acknowledged is there, whole. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import { defaultHistory } from "../../src/store/history.ts";
import { readCatalogue } from "../../src/store/sqlite/catalogue.ts";
import { prepareFile } from "../../src/store/sqlite/open-file.ts";
import { Past } from "../../src/store/sqlite/past.ts";
import { openWriter } from "../../src/store/sqlite/writer/open-writer.ts";
import type { Actor, Fields, State } from "./actor.ts";
import { storeName } from "./recording.ts";

/** How many requests of each client had been acknowledged when the power failed. */
export type Acknowledged = ReadonlyMap<Actor, number>;

/** Says what is wrong with an image; an empty list says that it is right. */
export function faultsOf(
  image: ReadonlyMap<string, Buffer>,
  acknowledged: Acknowledged,
  folder: string,
): string[] {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of image) writeFileSync(join(folder, name), bytes);
  const path = join(folder, storeName);
  if (!image.has(storeName) && [...acknowledged.values()].every((count) => count === 0)) return [];
  try {
    prepareFile(path);
    const writer = openWriter({ path, synchronous: "FULL", groupCommit: true, history: defaultHistory });
    writer.perform({ kind: "close" });
    return inspect(path, acknowledged);
  } catch (error) {
    return [`it cannot be opened: ${error}`];
  }
}

type Row = Record<string, unknown>;

function inspect(path: string, acknowledged: Acknowledged): string[] {
  const database = new DatabaseSync(path);
  const all = (sql: string) => database.prepare(sql).all() as Row[];
  try {
    const check = all("pragma integrity_check").map(({ integrity_check: text }) => String(text));
    const collections = all(
      "select number, name, (select sequence from heads h where h.number = c.number) as sequence, (select count from heads h where h.number = c.number) as count from collections c",
    );
    const found: Found = {
      resources: new Map(),
      keys: all("select key from receipts").map(({ key }) => String(key)),
    };
    const faults = [...check.filter((text) => text !== "ok"), ...inspectTexts(database)];
    for (const collection of collections) faults.push(...inspectCollection(all, collection, found));
    faults.push(...inspectTotals(all));
    for (const [actor, count] of acknowledged) faults.push(...inspectActor(actor, count, found));
    return faults;
  } finally {
    database.close();
  }
}

interface Found {
  /** By client, then by collection and mark. */
  resources: Map<string, Map<string, Fields>>;
  keys: readonly string[];
}

/** Resources, head row, change log and words must tell the same. */
function inspectCollection(
  all: (sql: string) => Row[],
  { number, name, sequence, count }: Row,
  found: Found,
): string[] {
  const faults: string[] = [];
  const rows = all(`select key, id, version, doc from resources_${number}`);
  for (const { id, doc } of rows) {
    const { id: own, ...fields } = JSON.parse(String(doc)) as Fields & { id: unknown };
    if (String(own) !== String(id)) faults.push(`${name}/${id} says that its id is ${own}`);
    const client = String(fields.client);
    if (!found.resources.has(client)) found.resources.set(client, new Map());
    found.resources.get(client)?.set(`${name}/${fields.mark}`, fields);
  }
  if (rows.length !== Number(count)) faults.push(`${name} has ${rows.length} resources and counts ${count}`);
  const [log] = all(`select count(*) as n, coalesce(max(sequence), 0) as last from changes_${number}`);
  if (log?.n !== sequence || log?.last !== sequence)
    faults.push(`${name} is at ${sequence}, and its log has ${log?.n} changes up to ${log?.last}`);
  const [odd] = all(
    `select count(*) as n from (select id, kind, version, max(sequence) from changes_${number} group by id) c
     full join resources_${number} r on cast(r.id as text) = c.id
     where c.id is null or (c.kind = 'deleted') <> (r.id is null) or r.version <> c.version`,
  );
  if (odd?.n !== 0) faults.push(`${name}: ${odd?.n} resources are not what their last change made of them`);
  return faults;
}

/** The log gives the text that each change superseded. */
function inspectTexts(database: DatabaseSync): string[] {
  const past = new Past(database);
  return [...readCatalogue(database).values()].flatMap((collection) => {
    try {
      const changes = past.changesAfter(collection, 0, 1_000_000);
      return changes
        .filter(({ kind, id, superseded }) => !isTextOf(id, superseded) && kind !== "created")
        .map(({ id, version }) => `${collection.name}/${id}: version ${version - 1} is lost`);
    } catch (error) {
      return [`${collection.name}: ${error}`];
    }
  });
}

function isTextOf(id: string, text: string | undefined): boolean {
  return text !== undefined && String((JSON.parse(text) as { id: unknown }).id) === id;
}

/** What is counted of the receipts must be what there is. */
function inspectTotals(all: (sql: string) => Row[]): string[] {
  const [counted] = all(
    "select (select value from meta where name = 'receipts') as counted, (select count(*) from receipts) as there",
  );
  return counted?.counted === counted?.there
    ? []
    : [`${counted?.there} receipts are counted as ${counted?.counted}`];
}

/** What the client was told must be there, and of its next request everything or nothing. */
function inspectActor(actor: Actor, acknowledged: number, { resources, keys }: Found): string[] {
  const found: State = resources.get(actor.client) ?? new Map();
  const done = [acknowledged, acknowledged + 1].find((n) => isState(actor.states[n], found));
  if (done === undefined)
    return [
      `${actor.client}: after ${acknowledged} acknowledged requests it has ${describe(found, actor.states[acknowledged])}`,
    ];
  const wrong = actor.keys.flatMap((key, position) => {
    const isThere = key !== undefined && keys.some((kept) => kept.includes(key));
    return key === undefined || isThere === position < done
      ? []
      : [`${key} is ${isThere ? "there" : "lost"} after ${done} requests`];
  });
  return wrong;
}

function isState(expected: State | undefined, found: State): boolean {
  if (expected === undefined || expected.size !== found.size) return false;
  return [...expected].every(([address, fields]) => isSame(fields, found.get(address)));
}

/** The id of an author is not known to a client before the answer. */
function isSame(expected: Fields, found: Fields | undefined): boolean {
  if (found === undefined) return false;
  const { authorId, ...others } = expected;
  const { authorId: foundAuthor, ...foundOthers } = found;
  return isDeepStrictEqual(others, foundOthers) && (authorId === undefined || authorId === foundAuthor);
}

function describe(found: State, expected: State | undefined): string {
  const missing = [...(expected?.keys() ?? [])].filter((address) => !found.has(address));
  const other = [...found].filter(
    ([address, fields]) => !isSame(expected?.get(address) ?? { mark: "" }, fields),
  );
  return `${found.size} resources; missing ${missing.slice(0, 3)}; other ${other.map(([address]) => address).slice(0, 3)}`;
}
