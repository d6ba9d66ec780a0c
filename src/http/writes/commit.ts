/** A write and its plan, and the commit of the plan. It limits how long the client waits for the store. */
import { authorFor } from "../../access/principal.ts";
import { type Collection, openCollection } from "../../collection/collection.ts";
import { isAbout } from "../../collection/resource.ts";
import { hiddenConflict } from "../../collection/visibility.ts";
import { Problem, type Violation } from "../../errors.ts";
import { danglingDetail, takenMessage, takenViolations } from "../../store/core/commits/refusals.ts";
import { allChangesOf, type Change } from "../../store/port/commit.ts";
import type { LogPlace } from "../../store/port/log-place.ts";
import { isInternal } from "../../store/port/record.ts";
import type { ServingStore } from "../../store/port/store.ts";
import type { Stored } from "../../store/port/stored.ts";
import { currentOf } from "../caller/judged.ts";
import { guardOf, viewFor } from "../caller/permission.ts";
import type { InCollection, Writes } from "../operations/operation.ts";
import type { Result } from "../operations/result.ts";
import type { HttpRequest } from "../protocol/message.ts";
import { respond } from "../respond.ts";
import { resourcePath } from "../route.ts";
import { type Clock, findCollection, type Service, type Surface } from "../service.ts";
import { receiptFor, withoutBody } from "./idempotency.ts";

/** The operations that write resources of one collection. */
export type CollectionWrite = InCollection & Writes;

/** The operations that write. */
export type WriteOperation = CollectionWrite | Writes;

/** A write in progress: the operation, its request, and the service that carries it out. */
export interface Write<Op extends WriteOperation = WriteOperation> {
  service: Service;
  operation: Op;
  request: HttpRequest;
}

/** What a write has decided to commit. */
export interface CommitPlan {
  kind: "plan";
  /** Empty if the write changes nothing. */
  changes: readonly Change[];
  /** Changes that come before (`Commit.steps`). @default none */
  steps?: readonly (readonly Change[])[];
  at: number;
  /** What the client gets if the commit succeeds. */
  result: Result;
  /** The error that the client gets instead of an error of the store. @default the store's error */
  explain?: (error: unknown) => unknown;
  /** Whether a new attempt can succeed after this refusal of the store. @default only if a version was not the expected one */
  mayRetry?: (refusal: Problem) => boolean;
  /** Whether to decide only whether the store would accept the commit. @default false */
  isDryRun?: boolean;
  /** The most text that can change because of deletes, in bytes. @default the limit of the store */
  maxCascadeText?: number | undefined;
  /** The places at which the logs of collections must end, if the write changes them as a whole. @default it does not */
  whole?: ReadonlyMap<string, LogPlace>;
  /** Commits to the store. @default `commit` of the store */
  commit?: ServingStore["commit"];
  /** Whether the response has a secret, so that it must not be stored. @default false */
  tellsSecret?: boolean;
  /** Whether the texts are earlier ones (`JoinedCommit`). @default false */
  revives?: boolean;
  /** The task that the commit is a slice of, for the history. @default none */
  task?: string;
  /** Called after the commit. */
  onCommitted?: () => void;
}

/** Another write has changed a resource since this one read it. Nothing was written, and a new attempt can succeed. */
export const overtaken = { kind: "overtaken" } as const;

/** The result of one attempt to write. */
export type WriteAttempt = Result | typeof overtaken;

/**
 * Commits a plan. For a request with an Idempotency-Key, makes the response now and stores it in the same transaction.
 * Throws the store's problems, and OUTCOME_UNKNOWN if the store takes too long.
 */
export async function commit(write: Write, plan: CommitPlan): Promise<WriteAttempt> {
  const { service, operation, request } = write;
  const { at, result, steps, explain, isDryRun = false, maxCascadeText, whole } = plan;
  const { joinCommit } = service;
  const { caller } = operation;
  const { changes: decided, revives = false } = plan;
  // If nothing joins it, a commit does not wait for a turn of its own.
  const changes =
    joinCommit === undefined
      ? decided
      : await joinCommit({ changes: decided, revives, principal: caller.principal, request });
  const idempotency = isDryRun ? undefined : operation.idempotency; // a dry run can be repeated
  if (changes.length === 0 && steps === undefined && idempotency === undefined) return result;
  const author = authorFor(caller.principal, plan.task);
  const principal = author === undefined ? {} : { principal: author };
  const response = idempotency && respond(service, result, request);
  const kept = response && plan.tellsSecret === true ? withoutBody(response) : response;
  const receipt = kept && idempotency && { receipt: receiptFor(service, idempotency, kept) };
  const terms = {
    ...(isDryRun && { isDryRun }),
    ...(maxCascadeText !== undefined && { maxCascadeText }),
    ...(whole && { whole }),
    ...(steps && { steps }),
  };
  const committed = {
    changes,
    at,
    ...principal,
    ...receipt,
    ...terms,
    caller: () => request.ticket.caller(),
  };
  const work = plan.commit === undefined ? service.store.commit(committed) : plan.commit(committed);
  if (idempotency !== undefined) idempotency.commit = work;
  try {
    await withinDeadline(service, work, outcomeUnknown);
  } catch (error) {
    // not a precondition of the client, because those are checked before the commit
    if (error instanceof Problem && error.code === "PRECONDITION_FAILED") return overtaken;
    if (error instanceof Problem && plan.mayRetry?.(error) === true) return overtaken;
    const problem = await withViolations(write, allChangesOf(committed), error);
    throw explain === undefined ? problem : explain(problem);
  }
  plan.onCommitted?.();
  return response === undefined ? result : { kind: "response", response };
}

/**
 * The store names the attributes that it refuses. For the client, these are violations of the body, without the names of attributes
 * that the caller cannot see. For a unique value, the client also learns which resource has it, if the caller can read that one.
 */
async function withViolations(write: Write, changes: readonly Change[], error: unknown): Promise<unknown> {
  if (!(error instanceof Problem) || error.attributes.length === 0) return error;
  const { service, operation } = write;
  const { code, change, attributes, takenBy = "" } = error;
  const { collection: name } = (changes[change ?? 0] as Change).key;
  const declared = findCollection(service, name) ?? openCollection(name);
  const collection = viewFor(service, declared, operation.caller);
  const isUnique = code === "UNIQUE_VIOLATION";
  // A client can send the reference in a write-only attribute.
  const { hidden, restricted } = collection.visibility ?? {};
  const secret = [...((isUnique ? hidden : restricted) ?? [])];
  const seen = attributes.filter((pointer) => !secret.some((each) => isAbout({ pointer }, each)));
  const violations = isUnique ? takenViolations(seen) : seen.map(danglingViolation);
  if (seen.length < attributes.length) violations.push(hiddenConflict);
  const seenMessage = isUnique ? takenMessage(seen) : error.message;
  const message = seen.length === 0 ? `The resource ${hiddenConflict.detail}.` : seenMessage;
  const holder = isUnique ? await holderFor(write, collection, takenBy) : undefined;
  const others = await Promise.all(error.others.map((each) => withViolations(write, changes, each)));
  const told = { violations, holder, takenBy: error.takenBy, change, attributes };
  return new Problem(code, message, { ...told, others: others as Problem[] });
}

/** The path of the resource that has a unique value; `null` if the caller cannot read it. */
async function holderFor(
  { service, operation: { caller } }: Write,
  collection: Collection,
  id: string,
): Promise<string | null | undefined> {
  const { name } = collection;
  const guard = guardOf(service, collection, caller);
  const stored = isInternal(name) ? undefined : await currentOf(service, guard, { collection: name, id });
  const path = resourcePath(`${service.settings.prefix}/${name}`, id);
  return stored && (guard.may("read", stored) ? path : null);
}

function danglingViolation(pointer: string): Violation {
  return { in: "body", pointer, code: "reference", detail: danglingDetail };
}

/**
 * The time of a change. If the resource shows this time, it is never before the last change, even if the clock was set
 * back.
 */
export function timeOfChange(
  service: Clock,
  { timestamps }: Collection,
  { updatedAt }: Pick<Stored, "updatedAt">,
): number {
  const now = service.now();
  return timestamps ? Math.max(now, updatedAt) : now;
}

/** The problem of a commit that takes too long. It can still take effect. */
function outcomeUnknown(): Problem {
  return new Problem(
    "OUTCOME_UNKNOWN",
    "The write took too long and may still take effect. Read the resource before you repeat the write.",
  );
}

/** Waits for work that prepares a write. The work must do no harm if it ends later. Throws UNAVAILABLE. */
export function inTime<T>(service: Surface, work: Promise<T>): Promise<T> {
  return withinDeadline(
    service,
    work,
    () => new Problem("UNAVAILABLE", "The store took too long and wrote nothing. Try again."),
  );
}

function withinDeadline<T>(service: Surface, work: Promise<T>, lateProblem: () => Problem): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(lateProblem()), service.settings.limits.handlerTimeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
