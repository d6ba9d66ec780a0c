/** Stores that much was done to, the same for the same seed. */
import { readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { openStore, type StoreAddress } from "../../src/store/open.ts";
import type { ApiKey } from "../../src/store/port/keys.ts";
import type { CollectionRecord } from "../../src/store/port/record.ts";
import type { Store } from "../../src/store/port/store.ts";
import { anyCharacter } from "../characters.ts";
import { declaration } from "../store/contract/fixture.ts";
import { bringAbout, runClients } from "../store/contract/model/clients.ts";
import { begin, declarations, plans } from "../store/contract/model/plans.ts";

const notes: CollectionRecord = {
  name: "notes",
  idKind: "integer",
  schema: '{"type":"object"}',
  indexes: [[{ path: ["rank"], descending: true }], [{ path: ["by", "name"], descending: false }]],
  search: [["text"]],
  unique: [{ path: ["mark"], ignoreCase: true }],
  timestamps: true,
};
const long = declaration("long");
const empty: CollectionRecord = { ...long, name: "empty", search: [["a"]] };

const strange = fc
  .string({ unit: anyCharacter, maxLength: 12 })
  .filter((text) => text.isWellFormed() && !text.includes("\0"));
const note = fc.record({
  rank: fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), strange),
  by: fc.record({ name: fc.option(strange) }),
  text: fc.lorem({ maxCount: 6 }),
  other: fc.array(strange, { maxLength: 3 }),
});
/** Integers, and ids that only begin like one. */
const noteIds = ["1", "-7", "007", "a", "9007199254740991", "12", "é", "-0"];

const key = (n: number, rest: Partial<ApiKey> = {}): ApiKey => ({
  prefix: `hf_${n}`,
  hash: `hash ${n}`,
  name: `key "${n}"`,
  subject: "kim",
  roles: n === 1 ? [] : ["editor", "é"],
  scopes: n === 2 ? ["notes:read"] : undefined,
  createdAt: 1_000 - n,
  expiresAt: n === 2 ? 4e12 : undefined,
  revokedAt: undefined,
  lastUsedAt: undefined,
  ...rest,
});

/** The files of stores that were made, by their seeds. */
const files = new Map<number, Buffer>();

/** Makes a store and does much to it. */
export async function makeBusy(address: StoreAddress, seed: number): Promise<void> {
  const known = files.get(seed);
  if (address.kind === "postgres") await doMuch(address, seed);
  else if (known !== undefined) writeFileSync(address.path, known);
  else {
    await doMuch(address, seed);
    files.set(seed, readFileSync(address.path));
  }
}

async function doMuch(address: StoreAddress, seed: number): Promise<void> {
  const store = await openStore(address, { history: "forever" });
  const [records = []] = fc.sample(declarations, { seed, numRuns: 1 });
  const [plan = []] = fc.sample(plans({ min: 4, max: 4 }, 20), { seed, numRuns: 1 });
  await store.migrate([...records, notes, long, empty]);
  const run = { at: begin, name: "busy", note: () => () => {} };
  await bringAbout(store, run);
  await runClients(store, plan, run);
  await writeNotes(store, seed);
  await importLong(store);
  await changeLong(store);
  for (const n of [1, 2, 3]) await store.keys.add(key(n));
  await store.keys.invalidate("hf_3", { revokedAt: 77 });
  await store.keys.noteUse("hf_2", 88);
  await store.close();
}

/** Each is created, half of them changed, some deleted, one brought back, one erased; together and alone. */
async function writeNotes(store: Store, seed: number): Promise<void> {
  const values = fc.sample(note, { seed, numRuns: 3 * noteIds.length });
  const text = (id: string, n: number) => JSON.stringify({ id, mark: `m${id}`, ...values[n] });
  const keys = noteIds.map((id) => ({ collection: "notes", id }));
  const at = begin + 5;
  const create = keys.map((key, n) => ({ key, expect: "absent" as const, next: text(key.id, n) }));
  await store.commit({ changes: create, principal: "é", at });
  for (const [n, key] of keys.entries()) {
    if (n % 2 === 0)
      await store.commit({ changes: [{ key, expect: 1, next: text(key.id, n + 8) }], at: at + n });
    else if (n > 3) await store.commit({ changes: [{ key, expect: 1, next: undefined }], at: at + n });
  }
  const [, , , , , sixth] = keys;
  if (sixth === undefined) throw new Error("There is no sixth note.");
  const receipt = { key: '["kim","POST","/notes","k é"]', fingerprint: "print", answer: '{"status":201}' };
  await store.commit({
    changes: [{ key: sixth, expect: "absent", next: text(sixth.id, 20), after: 2 }],
    receipt: { ...receipt, brief: "201 /notes/12", expiresAt: begin * 2 },
    at: at + 99,
  });
  const other = { ...receipt, key: "without an answer", answer: "", brief: "201", expiresAt: begin * 2 };
  await store.commit({ changes: [], receipt: other, at });
  await store.erase({ collection: "notes", id: "007" });
  await store.reserveIds("numbers", 5);
}

/** Texts of very different lengths, so that a page ends now by their number and now by their length. */
async function importLong(store: Store): Promise<void> {
  const load = await store.load("long");
  const lengths = [1, 5_000, 20, 30_000, 3, 3, 3, 3, 3, 100_000, 2_000, 2_000, ...Array<number>(30).fill(3)];
  const arrivals = lengths.map((length, n) => {
    const id = `l${n}`;
    return { id, text: JSON.stringify({ id, text: "é".repeat(length) }) };
  });
  await load.add(arrivals);
  await load.finish();
}

/** Changes both ends of a long text again and again, so that the change log keeps differences. */
async function changeLong(store: Store): Promise<void> {
  const key = { collection: "long", id: "l9" };
  const { version = 0 } = (await store.read(key)) ?? {};
  for (let n = 0; n < 20; n++) {
    const next = JSON.stringify({ id: key.id, n, text: "é".repeat(100_000 - n), last: n });
    await store.commit({ changes: [{ key, expect: version + n, next }], at: begin + 100 + n });
  }
}
