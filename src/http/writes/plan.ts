/** Makes the plan that commits the next state of one resource, after a write has decided it. A webhook has its own plan. */
import type { Judged } from "../../access/access.ts";
import type { AllowedResources } from "../../access/rules.ts";
import { type Change, versionOf } from "../../store/port/commit.ts";
import { isInternal } from "../../store/port/record.ts";
import type { Key, Stored } from "../../store/port/stored.ts";
import type { Webhooks } from "../../webhooks/webhooks.ts";
import { requirementsFor } from "../caller/judged.ts";
import { type Result, written } from "../operations/result.ts";
import type { CollectionWrite, CommitPlan, Write } from "./commit.ts";
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
  if (isInternal(key.collection)) return planForWebhook(write, state);
  const { path, guard } = operation;
  const kind = current === undefined ? "created" : "updated";
  const resultFor = (stored: Stored & Judged) => written(kind, { stored, path, isAsSent }, guard);
  if (current !== undefined && next === current.text && !isNewVersion)
    return { kind: "plan", changes: [], at, result: resultFor(current) };
  const replacing =
    current === undefined
      ? { key, expect: "absent" as const }
      : { key, expect: current.version, replaced: current.text.length };
  const required = (allowed: AllowedResources, judgedState: Judged | undefined) =>
    judgedState === undefined ? [] : requirementsFor(service, guard, { allowed, state: judgedState, at });
  if (next === undefined) {
    const requires = [guard.visible, guard.allowed("delete")].flatMap((each) => required(each, current));
    const change: Change = { ...replacing, next, ...(requires.length > 0 && { requires }) };
    return { kind: "plan", changes: [change], at, result: { kind: "deleted" } };
  }
  const settled = await requireNext(service, operation, { key, current, next, at });
  const { text, state: nextState } = settled;
  const requires = [
    ...[guard.visible, guard.allowed("update")].flatMap((each) => required(each, current)),
    ...[guard.visible, guard.allowed("delete")].flatMap((each) => required(each, undone?.state)),
    ...settled.requires,
  ];
  const change: Change = { ...replacing, next: text };
  if (requires.length > 0) change.requires = requires;
  if (undone !== undefined) change.after = undone.version;
  if (lastVersion !== undefined) change.last = lastVersion;
  const result = resultFor({ ...nextState, id: key.id, version: versionOf(change), updatedAt: at });
  return { kind: "plan", changes: [change], at, result };
}

/** The plan for one webhook. The state of its deliveries changes in the same commit. */
async function planForWebhook(
  { service, operation }: Write<CollectionWrite>,
  { key, current, next: asked, at, named = () => new Set(), isAsSent = true }: NextState,
): Promise<CommitPlan> {
  const webhooks = service.webhooks as Webhooks; // without it, the path does not exist
  const { path, guard } = operation;
  const resultFor = (stored: Stored) =>
    written(current === undefined ? "created" : "updated", { stored, path, isAsSent }, guard);
  if (current !== undefined && asked === current.text)
    return { kind: "plan", changes: [], at, result: resultFor(current) };
  const { next, changes, secret } = await webhooks.settle({
    key,
    current: current?.text,
    next: asked,
    named: named(),
  });
  const version = (current?.version ?? 0) + 1;
  const result: Result =
    next === undefined ? { kind: "deleted" } : resultFor({ id: key.id, version, text: next, updatedAt: at });
  const expect = current?.version ?? "absent";
  return {
    kind: "plan",
    changes: [{ key, expect, next }, ...changes],
    at,
    result: secret === undefined ? result : withSecret(result, secret),
    tellsSecret: secret !== undefined,
    onCommitted: () => webhooks.noteWrite(),
  };
}

/** The response with a secret that no other response has. */
function withSecret(result: Result, secret: string): Result {
  if (result.kind !== "created") return result;
  const text = JSON.stringify({ ...JSON.parse(result.stored.text), secret });
  return { ...result, stored: { ...result.stored, text } };
}
