/** `holdfast rewind`: returns collections to their state at an earlier time, in the store or in a running service. */
import { ProblemError, type Task } from "holdfast-client";
import type { Collection } from "../collection/collection.ts";
import { timeExamples, timeOf } from "../collection/dates.ts";
import { Problem, StartError } from "../errors.ts";
import { anonymous } from "../http/caller/admit.ts";
import { findCollection, type Service, servedNames } from "../http/service.ts";
import { hooksForMany } from "../http/writes/hooks.ts";
import {
  attemptRewind,
  beforeHistory,
  type RewindCommit,
  type RewindReport,
  refusalOf,
} from "../rewind/attempt.ts";
import type { RewindAsked } from "../rewind/rewind-plan.ts";
import { openService } from "../server/open-service.ts";
import { maxChangesSince } from "../store/core/changes-since.ts";
import { onStoreOf, requireStore } from "../store/open.ts";
import { HistoryMissing } from "../store/port/change-log.ts";
import type { Change } from "../store/port/commit.ts";
import type { Store } from "../store/port/store.ts";
import { withOpen } from "./command-store.ts";
import { configOf, type Environment, type Flags } from "./flags.ts";
import { callService, type RunningService, runningOf, withUrlAdvice } from "./running-service.ts";
import { followTask, taskUrl, whyNotAll } from "./running-task.ts";
import { interruptible, say } from "./shell.ts";
import { counted, shellWord, unknownCollection, withCommand, withoutSecrets } from "./wording.ts";

/** Other instances on a PostgreSQL database can come first. */
const maxAttempts = 10;

/** Without a service that others use, a rewind can be this large, in bytes. It is in memory until it is written. */
const maxOwnBytes = 64 * 1024 * 1024;

/** Rewinds, and says what it did. Throws StartError if nothing was rewound, or would be. */
export async function runRewind(
  { to, collection, max, dryRun, url, token, ...flags }: Flags,
  env: Environment,
): Promise<void> {
  const asked = {
    to: readTo(String(to)),
    names: collection === undefined ? undefined : [...new Set(collection as string[])],
    max: readMax(max, dryRun === true),
    isDryRun: dryRun === true,
  };
  const undo = undoWith({ collection: asked.names, url, ...flags });
  const running = runningOf({ url, token, ...flags }, env);
  if (running !== undefined) return rewindRunning(running, asked, undo);
  const config = await configOf(flags, env);
  requireStore(config.store);
  if (config.history === "none")
    throw new StartError("The service keeps no history. Nothing was rewound. Restore a backup.");
  try {
    const report = await withOpen(openService(config, { delivers: false }), async ({ service, store }) => {
      if (!service.hasStarted()) throw new StartError("The store cannot be reached now.");
      const known = await servedNames(service);
      const unknown = asked.names?.find((name) => !known.includes(name));
      if (unknown !== undefined) throw unknownCollection(unknown, known);
      const collections = (asked.names ?? known).map((name) => findCollection(service, name) as Collection);
      const maxBytes = Math.max(config.http.limits.rewindBytes, maxOwnBytes);
      const { participants } = service;
      const by = { id: service.newUuid(), caller: anonymous, now: service.now() };
      const hooksOf = (collection: Collection) => hooksForMany(service, collection, by);
      const how = { ...asked, collections, maxBytes, participants, hooksOf };
      return onStoreOf(config.store, rewind(store, how));
    });
    show(report, undo);
  } catch (error) {
    throw withUrlAdvice(error);
  }
}

function readTo(text: string): number {
  const to = timeOf(text);
  if (to === undefined) throw new StartError(`--to must be a time such as ${timeExamples}, not "${text}".`);
  if (to > Date.now()) throw new StartError(`--to must not be in the future, but "${text}" is.`);
  return to;
}

/** A dry run without `--max` counts all changes. */
function readMax(text: unknown, isDryRun: boolean): number {
  if (text === undefined && isDryRun) return maxChangesSince;
  const numbers = `a whole number from 1 to ${maxChangesSince}`;
  if (text === undefined)
    throw new StartError(
      `--max is required: the most resources that can change, ${numbers}. --dry-run says how many would change.`,
    );
  const max = Number(text);
  if (!/^\d+$/.test(String(text)) || max < 1 || max > maxChangesSince)
    throw new StartError(`--max must be ${numbers}, not "${text}".`);
  return max;
}

/** Rewinds a running service. If the rewind is too large for one commit, the service makes a task of it. */
async function rewindRunning(
  service: RunningService,
  {
    to,
    names,
    max,
    isDryRun,
  }: Pick<RewindAsked, "to"> & {
    names: readonly string[] | undefined;
    max: number;
    isDryRun: boolean;
  },
  undo: ReturnType<typeof undoWith>,
): Promise<void> {
  const rewind = { to: new Date(to), ...(names && { collections: names }), max, dryRun: isDryRun };
  const report = await callService(service, ({ $rewind }) =>
    $rewind(rewind).catch((error: unknown) => {
      if (!(error instanceof ProblemError)) throw error;
      if (error.status === 413) return undefined;
      if (error.status !== 409) throw error;
      const { report: refused, matched } = error.problem;
      if (refused !== undefined) return refused as RewindReport;
      throw matched === undefined ? error : new StartError(tooMany(matched, max));
    }),
  );
  if (report !== undefined) return show(report, undo);
  const how = isDryRun
    ? "checks it as a task"
    : "makes a task of it: others see a part of it before the rest";
  say(`holdfast: the rewind is too large for one commit, so the service ${how}`);
  const begun = await callService(service, ({ $tasks }) => $tasks.rewind(rewind));
  const task = await interruptible("interrupted", (signal) =>
    followTask(service, begun, { what: "rewinding", signal }),
  );
  showTask(task, rewind, taskUrl(service, task));
}

/** Prints what a task did, with the request that undoes it. Throws StartError if it did not rewind everything. */
function showTask(
  task: Task,
  { to, max, dryRun }: { to: Date; max: number; dryRun: boolean },
  url: string,
): void {
  const { state, changed, total, refused, firstRefused, reason = "" } = task;
  say(firstRefused.map(({ resource, detail }) => `${resource}: ${detail}`));
  if (state === "refused") throw new StartError(total > max ? tooMany(total, max) : reason);
  const did = dryRun ? "would rewind" : "rewound";
  const isAll = state === "done" && refused === 0;
  const share = isAll
    ? counted(changed, "resource")
    : `${changed.toLocaleString("en")} of ${counted(total, "resource")}`;
  const back = changed === 0 || dryRun ? "" : `. To undo this: POST ${url}/_undo`;
  const message = `${did} ${share} to ${to.toISOString()}`;
  if (!isAll) throw new StartError(`${message}, because ${whyNotAll(task)}${back}`);
  say(`${message}${back}`);
}

type AskedOfStore = Omit<RewindAsked, "now"> & {
  max: number;
  isDryRun: boolean;
  /** The attributes of profiles that follow the accounts. */
  participants: Service["participants"];
};

async function rewind(store: Store, asked: AskedOfStore): Promise<RewindReport> {
  for (let attempts = 0; attempts < maxAttempts; attempts++) {
    const report = await attempt(store, asked);
    if (report !== undefined) return report;
  }
  throw new StartError("Other writes came first every time. Nothing was rewound. Try again.");
}

/** Rewinds once; `undefined` if other writes came first. */
function attempt(store: Store, { participants, ...asked }: AskedOfStore): Promise<RewindReport | undefined> {
  const names = asked.collections.map(({ name }) => name);
  return store.exclusively(names, async (commitNow) => {
    const commit = async (commit: RewindCommit) => {
      let changes: readonly Change[] = commit.changes;
      for (const { overEarlier } of participants.values())
        if (overEarlier !== undefined) changes = await overEarlier(changes);
      return isCommitted(commitNow, { ...commit, changes });
    };
    const made = await attemptRewind(store, { ...asked, now: Date.now() }, commit).catch((error: unknown) => {
      throw startErrorOf(error, asked.max);
    });
    return made?.report;
  });
}

/** Commits, if there is something to commit. Returns `undefined` if other writes came first. */
async function isCommitted(commitNow: Store["commit"], commit: RewindCommit): Promise<true | undefined> {
  try {
    if (commit.changes.length > 0) await commitNow(commit);
    return true;
  } catch (error) {
    if (error instanceof Problem && error.code === "PRECONDITION_FAILED") return undefined;
    throw error;
  }
}

function startErrorOf(error: unknown, max: number): unknown {
  if (error instanceof HistoryMissing)
    return new StartError(
      `--to ${beforeHistory(error)}. Nothing was rewound. Give a later time, or restore a backup.`,
    );
  if (!(error instanceof Problem)) return error;
  if (error.code === "TOO_MANY_MATCHES") return new StartError(tooMany(error.matched, max));
  return error.code === "CONTENT_TOO_LARGE" ? new StartError(error.message) : error;
}

/** The message about a rewind of more resources than `--max` allows. */
function tooMany(matched: number | undefined, max: number): string {
  return `${matched} resources would change, but --max is ${max}, so nothing was rewound. Give --max ${matched}, or a later time.`;
}

/** The command that undoes a rewind: it has to reach the same collections of the same store, and no others. */
function undoWith(flags: Flags): (to: string, max: number) => string {
  const repeated = ["collection", "url", "store", "config"].flatMap((name) =>
    [flags[name] ?? []].flat().map((value) => ` --${name} ${shellWord(String(value))}`),
  );
  return (to, max) =>
    withCommand(withoutSecrets(`npx holdfast rewind --to ${to} --max ${max}${repeated.join("")}`));
}

/** Prints the report, with the command that undoes the rewind. Throws StartError if something does not fit. */
function show(report: RewindReport, undo: ReturnType<typeof undoWith>): void {
  const { to, dryRun, before, collections, misfits } = report;
  const lines = collections
    .filter(({ created, replaced, deleted }) => created + replaced + deleted > 0)
    .map(
      ({ name, created, replaced, deleted }) =>
        `${name}: ${created.toLocaleString("en")} created again, ${replaced.toLocaleString("en")} replaced, ${deleted.toLocaleString("en")} deleted`,
    );
  for (const { collection, id, pointer, detail } of misfits.first)
    lines.push(`${collection}/${id}${pointer === undefined ? "" : ` ${pointer}`}: ${detail}`);
  say(lines);
  if (misfits.first.length > 0) throw new StartError(refusalOf(misfits));
  const total = report.created + report.replaced + report.deleted;
  const did = dryRun ? "would rewind" : "rewound";
  const back = before === undefined ? "" : `. To undo this: ${undo(before, total)}`;
  say(`${did} ${counted(total, "resource")} to ${to}${back}`);
}
