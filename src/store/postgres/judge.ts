/** Judges commits one after the other and writes those that are accepted into the ledger. */
import { targetsOf } from "../../collection/refers.ts";
import { type Unique, uniqueValue } from "../../collection/unique.ts";
import { Problem } from "../../errors.ts";
import { toFragment } from "../../json/pointer.ts";
import type { Followed } from "../change-log.ts";
import type { Change, Commit } from "../commit.ts";
import { danglingDetail, danglingMessage, takenDetail, takenMessage } from "../constraint-texts.ts";
import type { Catalogue, NumberedCollection } from "./catalogue.ts";
import { follow } from "./follow.ts";
import type { GroupNumbers } from "./group-numbers.ts";
import type { Ledger, PendingChange } from "./ledger.ts";
import type { Sight } from "./sight.ts";

/** What became of a commit: its changes and what followed from them, or why it was refused. */
export type Fate =
  | { changes: readonly PendingChange[]; followed: readonly Followed[] }
  | { refusal: Problem };

/** What judging needs. */
export interface Court {
  catalogue: Catalogue;
  ledger: Ledger;
  sight: Sight;
  groups: GroupNumbers;
}

/** Judges one commit; what is refused leaves nothing in the ledger. */
export async function judge(court: Court, commit: Commit): Promise<Fate> {
  const { ledger } = court;
  const refusal = receiptTaken(court, commit) ?? stale(court, commit);
  if (refusal !== undefined) return { refusal };
  const mark = ledger.mark();
  const changes = write(court, commit);
  const broken = (await collision(court, commit)) ?? (await lostReference(court, commit));
  const followed = broken ?? (await follow(court, commit, changes));
  if (!(followed instanceof Problem)) return { changes, followed };
  ledger.takeBack(mark);
  return { refusal: followed };
}

function receiptTaken({ sight }: Court, { receipt, at }: Commit): Problem | undefined {
  if (receipt === undefined || !sight.hasReceipt(receipt.key, at)) return undefined;
  return new Problem("IDEMPOTENCY_KEY_REUSED", "The Idempotency-Key was already used.");
}

/** A version that is not the expected one. */
function stale(court: Court, { changes }: Commit): Problem | undefined {
  for (const change of changes) {
    const { key, expect, after } = change;
    const collection = collectionOf(court, key.collection);
    const version = court.ledger.find(collection, key.id)?.now?.version;
    if ((version ?? "absent") !== expect) return staleVersion(change, version);
    if (after !== undefined && court.sight.lastVersion(collection, key.id) !== after)
      return staleVersion(change, version);
  }
  return undefined;
}

function write(court: Court, commit: Commit): readonly PendingChange[] {
  const { changes, at, principal = null, receipt } = commit;
  const group = changes.length > 1 ? court.groups.next() : null;
  if (receipt !== undefined) court.ledger.keep({ ...receipt, at });
  return changes.map(({ key, next, after }) => {
    const change = { id: key.id, next, ...(after === undefined ? {} : { after }) };
    return court.ledger.write(collectionOf(court, key.collection), change, { at, principal, group });
  });
}

/** What the commit made to be there twice. Of several changes that collide with each other, the first has not done so yet. */
async function collision(court: Court, { changes }: Commit): Promise<Problem | undefined> {
  const turns = new Map(changes.map(({ key }, turn) => [`${key.collection}/${key.id}`, turn]));
  for (const [change, { key, next }] of changes.entries()) {
    if (next === undefined) continue;
    const isLater = (other: string) => (turns.get(`${key.collection}/${other}`) ?? -1) > change;
    const pointer = await takenPointer(court, collectionOf(court, key.collection), {
      id: key.id,
      text: next,
      isLater,
    });
    if (pointer === undefined) continue;
    return new Problem("UNIQUE_VIOLATION", takenMessage(pointer), {
      violations: [{ in: "body", pointer, code: "unique", detail: takenDetail }],
      change,
    });
  }
  return undefined;
}

/** A resource as it would be, and whose turn comes after its own. */
interface Candidate {
  id: string;
  text: string;
  /** @default nobody's */
  isLater?: (other: string) => boolean;
}

/**
 * The first unique attribute, as a pointer, in which another resource has the value that this one has. Those whose turn
 * comes later are passed over.
 */
export async function takenPointer(
  court: Pick<Court, "ledger" | "sight">,
  collection: NumberedCollection,
  { id, text, isLater = () => false }: Candidate,
): Promise<string | undefined> {
  if (collection.unique.length === 0) return undefined;
  const resource = JSON.parse(text) as Record<string, unknown>;
  const isOther = (other: string) => other !== id && !isLater(other);
  for (const unique of collection.unique) {
    const value = uniqueValue(resource, unique);
    if (value !== undefined && (await isTaken(court, { collection, unique, isOther, value })))
      return toFragment(unique.path);
  }
  return undefined;
}

async function isTaken(
  { ledger, sight }: Pick<Court, "ledger" | "sight">,
  {
    collection,
    unique,
    isOther,
    value,
  }: {
    collection: NumberedCollection;
    unique: Unique;
    isOther: (id: string) => boolean;
    value: string;
  },
): Promise<boolean> {
  const { entries } = ledger.of(collection);
  const held = await sight.holders(collection, unique, value);
  if (held.some((other) => isOther(other) && !entries.has(other))) return true;
  for (const { id: other, now } of entries.values()) {
    if (isOther(other) && now !== undefined && uniqueValue(JSON.parse(now.text), unique) === value)
      return true;
  }
  return false;
}

/** A reference of a changed resource that leads nowhere. */
async function lostReference(court: Court, { changes }: Commit): Promise<Problem | undefined> {
  for (const [change, { key, next }] of changes.entries()) {
    if (next === undefined) continue;
    const pointer = await danglingPointer(court, collectionOf(court, key.collection), next);
    if (pointer === undefined) continue;
    return new Problem("REFERENCE_NOT_FOUND", danglingMessage(pointer), {
      violations: [{ in: "body", pointer, code: "reference", detail: danglingDetail }],
      change,
    });
  }
  return undefined;
}

/** The place of the first id in a resource that leads nowhere, but for those to the collections that are left for later. */
export async function danglingPointer(
  { sight }: Pick<Court, "sight">,
  { references }: NumberedCollection,
  ...[text, later = []]: [text: string, later?: readonly string[]]
): Promise<string | undefined> {
  if (references.length === 0) return undefined;
  for (const { reference, id, at } of targetsOf(JSON.parse(text), references)) {
    if (later.includes(reference.collection)) continue;
    if (!(await sight.has(reference.collection, id))) return toFragment(at);
  }
  return undefined;
}

function collectionOf({ catalogue }: Court, name: string): NumberedCollection {
  const collection = catalogue.byName.get(name);
  if (collection === undefined) throw new Error(`There is no collection ${JSON.stringify(name)}.`);
  return collection;
}

function staleVersion({ key, expect }: Change, version: number | undefined): Problem {
  const current = version === undefined ? "does not exist" : `has version ${version}`;
  const expected = expect === "absent" ? "no resource" : `version ${expect}`;
  return new Problem(
    "PRECONDITION_FAILED",
    `The resource ${JSON.stringify(key.id)} ${current}, but ${expected} was expected.`,
  );
}
