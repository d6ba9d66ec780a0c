/** Makes the plan that commits the next state of one resource, after a write has decided it. */
import type { Judged } from "../../access/access.ts";
import type { AllowedResources } from "../../access/rules.ts";
import { type Change, versionOf } from "../../store/port/commit.ts";
import type { Key, Stored } from "../../store/port/stored.ts";
import { requirementsFor } from "../caller/judged.ts";
import { type Result, written } from "../operations/result.ts";
import type { Settled } from "../participant.ts";
import type { CollectionWrite, CommitPlan, Write } from "./commit.ts";
import { type HookedChange, requireValidated } from "./hooks.ts";
import { requireNext } from "./next-state.ts";

/** The next state of a resource, as a write has decided it. */
interface NextState {
  key: Key;
  /** `undefined`: it does not exist, or is deleted. */
  current: (Stored & Judged) | undefined;
  /** Its next text; `undefined` deletes it. */
  next: string | undefined;
  at: number;
  /** Whether to make a new version even if the text is the same, because the caller must not learn this. @default false */
  isNewVersion?: boolean;
  /** The delete that the write undoes: the last state before it, and its version. */
  undone?: { state: Judged; version: number };
  /** Whether the next text is an earlier one. @default false */
  isRestore?: boolean;
  /** The last version of an id that the client chose (`Change.last`). */
  lastVersion?: number;
  /** The attributes that the request names. @default none */
  named?: () => ReadonlySet<string>;
  /** Whether the next text is what the client sent. @default true */
  isAsSent?: boolean;
}

/** The plan for one resource. Throws if the caller does not have the right to write the next state. */
export async function planFor(write: Write<CollectionWrite>, state: NextState): Promise<CommitPlan> {
  const { service, operation } = write;
  const { key, current, next, at, isNewVersion = false, undone, lastVersion, isAsSent = true } = state;
  const { path, guard } = operation;
  const hooked = (operation: HookedChange["operation"]) => ({
    operation,
    id: key.id,
    previous: current?.text,
    now: at,
  });
  const kind = current === undefined ? "created" : "updated";
  const resultFor = (stored: Stored & Judged) => written(kind, { stored, path, isAsSent }, guard);
  if (current !== undefined && next === current.text && !isNewVersion)
    return { kind: "plan", changes: [], at, result: resultFor(current) };
  const replacing =
    current === undefined
      ? { key, expect: "absent" as const }
      : { key, expect: current.version, replaced: current.text.length };
  const participant = service.participants.get(key.collection);
  const settle = () =>
    participant?.settle?.({ key, current: current?.text, next, named: state.named?.() ?? new Set() });
  const required = (allowed: AllowedResources, judgedState: Judged | undefined) =>
    judgedState === undefined ? [] : requirementsFor(service, guard, { allowed, state: judgedState, at });
  if (next === undefined) {
    await requireValidated(write, current?.text ?? "", hooked("delete"));
    const requires = [guard.visible, guard.allowed("delete")].flatMap((each) => required(each, current));
    const change: Change = { ...replacing, next, ...(requires.length > 0 && { requires }) };
    const plan: CommitPlan = { kind: "plan", changes: [change], at, result: { kind: "deleted" } };
    return participant === undefined ? plan : withSettled(plan, await settle());
  }
  const allowed = await requireNext(service, operation, { key, current, next, at });
  const usual = current === undefined ? "create" : "update";
  await requireValidated(write, next, hooked(state.isRestore === true ? "restore" : usual));
  const settled = participant === undefined ? undefined : await settle();
  const { text = next } = settled ?? {};
  const requires = [
    ...[guard.visible, guard.allowed("update")].flatMap((each) => required(each, current)),
    ...[guard.visible, guard.allowed("delete")].flatMap((each) => required(each, undone?.state)),
    ...allowed.requires,
  ];
  // The store can refuse a reference in the allowed text.
  const change: Change = { ...replacing, next: settled?.text ?? allowed.text };
  if (requires.length > 0) change.requires = requires;
  if (undone !== undefined) change.after = undone.version;
  if (lastVersion !== undefined) change.last = lastVersion;
  const made = { ...allowed.state, text, id: key.id, version: versionOf(change), updatedAt: at };
  return withSettled({ kind: "plan", changes: [change], at, result: resultFor(made) }, settled);
}

/** The plan with what a participant adds to it. */
function withSettled(plan: CommitPlan, settled: Settled | undefined): CommitPlan {
  if (settled === undefined) return plan;
  const { changes = [], onlyInResponse, onCommitted } = settled;
  return {
    ...plan,
    changes: [...plan.changes, ...changes],
    ...(onlyInResponse && { result: withMore(plan.result, onlyInResponse), tellsSecret: true }),
    ...(onCommitted && { onCommitted }),
  };
}

/** The response to a create, with attributes that no other response has. */
function withMore(result: Result, more: object): Result {
  if (result.kind !== "created") return result;
  const text = JSON.stringify({ ...JSON.parse(result.stored.text), ...more });
  return { ...result, stored: { ...result.stored, text } };
}
