/**
 * The write pipeline: the steps of every write, in order. `create.ts`, `change.ts`, `restore.ts` and `batch.ts`
 * implement them.
 */
import { setTimeout as delay } from "node:timers/promises";
import { Problem } from "../../errors.ts";
import { createBackOff } from "../../store/back-off.ts";
import { isInternal } from "../../store/internal.ts";
import type { Key, Stored } from "../../store/stored.ts";
import type { Webhooks } from "../../webhooks/webhooks.ts";
import { withoutHiddenReferences } from "../caller/hidden-references.ts";
import { notFound, type Result, written } from "../operations/result.ts";
import type { Service } from "../service.ts";
import { type CommitPlan, commit, type Outcome, type Write, type WriteOperation } from "./commit.ts";

/** How one kind of write does each step. */
export interface WriteSteps<Op extends WriteOperation, State, Content> {
  /**
   * Finds the state that the write changes; `undefined` if it does not exist for the caller. Throws if the caller cannot
   * change it, or if a precondition fails. The pipeline calls this before it reads the content, and again in each attempt.
   */
  find(write: Write<Op>): Promise<State | undefined>;
  /** Reads and checks the content. */
  read(write: Write<Op>): Promise<Content>;
  /** The names (`nameOf`) of the resources that the write changes. Writes to the same resource wait for each other. */
  resources(write: Write<Op>, content: Content): readonly string[];
  /** Decides what to commit. */
  decide(write: Write<Op>, state: State, content: Content): Promise<CommitPlan | Outcome>;
}

/** Carries out a write. Throws what its steps throw, and UNAVAILABLE if other writes come first every time. */
export async function runWrite<Op extends WriteOperation, State, Content>(
  steps: WriteSteps<Op, State, Content>,
  write: Write<Op>,
): Promise<Result> {
  if ((await steps.find(write)) === undefined) return notFound;
  // The content can take its time, and the pipeline does not keep the state until then.
  write.request.largeReads.end(write.request);
  if ("collection" in write.operation && isInternal(write.operation.collection.name))
    await write.service.webhooks?.load();
  // Before the write waits for its turn, so that a slow client does not hold up other writes.
  const content = await steps.read(write);
  const { service } = write;
  return inTurn(service, steps.resources(write, content), () =>
    untilCommitted(service, () => attempt(steps, write, content)),
  );
}

async function attempt<Op extends WriteOperation, State, Content>(
  steps: WriteSteps<Op, State, Content>,
  write: Write<Op>,
  content: Content,
): Promise<Outcome> {
  const state = await steps.find(write);
  if (state === undefined) return notFound;
  const planned = await steps.decide(write, state, content);
  return planned.kind === "plan" ? commit(write, planned) : planned;
}

/** In milliseconds. Short, because a write that waits longer than the others is overtaken more often. */
const retryBounds = { first: 2, most: 50 };

/**
 * Attempts a write until it is no longer overtaken. The waits between attempts are random, so that two instances do not
 * stay in step. The attempts end when the time for a request is over (`handlerTimeoutMs`).
 */
async function untilCommitted({ settings }: Service, attemptOnce: () => Promise<Outcome>): Promise<Result> {
  const since = performance.now();
  let nextWait: (() => number) | undefined;
  for (;;) {
    const outcome = await attemptOnce();
    if (outcome.kind !== "overtaken") return outcome;
    nextWait ??= createBackOff(retryBounds);
    const wait = nextWait();
    if (performance.now() + wait - since > settings.limits.handlerTimeoutMs)
      throw new Problem("UNAVAILABLE", "Other writes came first every time. Try again.");
    await delay(wait);
  }
}

/**
 * Counts the versions that a write has read as memory that its request holds. Throws UNAVAILABLE while other requests hold
 * too much.
 */
export function hold({ request }: Write, ...versions: Stored[]): void {
  const length = versions.reduce((sum, { text }) => sum + text.length, 0);
  request.largeReads.hold(request, length);
}

function inTurn<T>({ writes }: Service, resources: readonly string[], task: () => Promise<T>): Promise<T> {
  return resources.reduceRight((inner, name) => () => writes.run(name, inner), task)();
}

/** The name of a resource for `WriteSteps.resources`. */
export function nameOf({ collection, id }: Key): string {
  return `${collection}/${id}`;
}

/** The next state of a resource, as a write has decided it. */
interface NextState {
  key: Key;
  /** `undefined`: it does not exist, or is deleted. */
  current: Stored | undefined;
  /** Its next text; `undefined` deletes it. */
  next: string | undefined;
  at: number;
  /** Whether to make a new version even if the text is the same, because the caller must not learn that it is. @default false */
  isNewVersion?: boolean;
  /** The version of the delete that the write undoes. */
  deletedVersion?: number | undefined;
  /** The attributes that the request names. @default none */
  named?: () => ReadonlySet<string>;
  /** Whether the next text is what the client sent. @default true */
  isAsSent?: boolean;
}

/** The plan for one resource. Throws if the caller does not have the right to write the next state. */
export async function planFor(
  write: Write<Exclude<WriteOperation, { kind: "batch" }>>,
  state: NextState,
): Promise<CommitPlan> {
  const { service, operation } = write;
  const { key, current, next, at, isNewVersion = false, deletedVersion, isAsSent = true } = state;
  if (isInternal(key.collection)) return planForWebhook(write, state);
  const { collection, path, guard, caller } = operation;
  const kind = current === undefined ? "created" : "updated";
  const resultFor = (stored: Stored) => written(kind, { stored, path, isAsSent }, guard);
  if (current !== undefined && next === current.text && !isNewVersion)
    return { kind: "plan", changes: [], at, result: resultFor(current) };
  const replacing =
    current === undefined
      ? { key, expect: "absent" as const }
      : { key, expect: current.version, replaced: current.text.length };
  if (next === undefined)
    return { kind: "plan", changes: [{ ...replacing, next }], at, result: { kind: "deleted" } };
  guard.require(current === undefined ? "create" : "update", next);
  const checked = withoutHiddenReferences(service, caller, { collection, next, before: current?.text });
  const text = typeof checked === "string" ? checked : await checked;
  const after = deletedVersion === undefined ? {} : { after: deletedVersion };
  const version = (current?.version ?? deletedVersion ?? 0) + 1;
  return {
    kind: "plan",
    changes: [{ ...replacing, next: text, ...after }],
    at,
    result: resultFor({ id: key.id, version, text: next, updatedAt: at }),
  };
}

/** The plan for one webhook. The state of its deliveries changes in the same commit. */
async function planForWebhook(
  { service, operation }: Write<Exclude<WriteOperation, { kind: "batch" }>>,
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
