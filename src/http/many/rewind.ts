/**
 * Rewinds: makes new versions, in one commit, so that collections are again as they were at a time. Other writes wait in the
 * meantime, so the commit comes from the state that was read. If the store finds that it does not, this reads again.
 */
import type { Collection } from "../../collection/collection.ts";
import { Problem } from "../../errors.ts";
import { inBody, Violations } from "../../query/violations.ts";
import { attemptRewind, beforeHistory, type RewindReport, refusalOf } from "../../rewind/attempt.ts";
import { HistoryMissing } from "../../store/port/change-log.ts";
import type { Writes } from "../operations/operation.ts";
import type { Result } from "../operations/result.ts";
import { requireNoPreconditions } from "../protocol/conditional.ts";
import { readContent } from "../protocol/content.ts";
import { findCollection, servedNames } from "../service.ts";
import { commit, overtaken, type Write, type WriteAttempt } from "../writes/commit.ts";
import { hooksForMany } from "../writes/hooks.ts";
import { parseRewind, type RewindContent } from "../writes/rewind-content.ts";
import { untilCommitted } from "../writes/write.ts";

type Rewind = Write<Writes>;

/** What the content asks for, with its collections. */
type Asked = Omit<RewindContent, "collections"> & { collections: readonly Collection[] };

/**
 * Rewinds collections. Throws REWIND_REFUSED with a report, TOO_MANY_MATCHES, INVALID_PARAMETER if a log begins later,
 * CONTENT_TOO_LARGE, UNAVAILABLE, the problems of the content, and the store's.
 */
export async function performRewind(write: Rewind): Promise<Result> {
  const { service } = write;
  const asked = await readRewind(write);
  // One at a time, because of the memory that each of them needs.
  return service.writes.run("rewinds", () => untilCommitted(service, () => attempt(write, asked)));
}

/** What a rewind asks for. Throws the problems of the content, and UNAVAILABLE. */
export async function readRewind({ service, request }: Rewind): Promise<Asked> {
  requireNoPreconditions(request, "cannot be used here: it names one state of one resource");
  if (service.readOnly)
    throw new Problem("UNAVAILABLE", "The service is read-only now. Nothing was rewound. Try again later.");
  const { limits } = service.settings;
  const bytes = await readContent(request, limits);
  if (service.feed === undefined)
    throw noHistory("cannot be used: the service keeps no history. Restore a backup");
  const known = await servedNames(service);
  const asked = parseRewind(bytes, { known, now: service.now() }, limits);
  const collections = (asked.collections ?? known).map((name) => findCollection(service, name) as Collection);
  return { ...asked, collections };
}

async function attempt(write: Rewind, asked: Asked): Promise<WriteAttempt> {
  const { service, request, operation } = write;
  const { caller } = operation;
  const names = asked.collections.map(({ name }) => name);
  await service.expired.sweep(names); // what has expired would hold unique values
  return service.exclusively(names, async (commitNow) => {
    const planned = {
      ...asked,
      now: service.now(),
      maxBytes: service.settings.limits.rewindBytes,
      ifLarger: 'Send the header "Prefer: respond-async", and the rewind becomes a task.',
      hooksOf: (collection: Collection) =>
        hooksForMany(service, collection, { id: request.id, caller, now: service.now() }),
      onLength: (length: number) => request.ticket.hold(length),
    };
    const made = await attemptRewind(service.store, planned, async (plan, report) => {
      const committed = await commit(write, {
        kind: "plan",
        ...plan,
        commit: commitNow,
        revives: true,
        result: shown(report),
      });
      return committed.kind === "overtaken" ? undefined : committed;
    }).catch((error: unknown) => {
      if (!(error instanceof HistoryMissing)) throw error;
      throw noHistory(`${beforeHistory(error)}. Send a later time, or restore a backup`);
    });
    if (made === undefined) return overtaken;
    const { report, committed } = made;
    if (committed !== undefined) return committed;
    if (asked.isDryRun) return shown(report);
    throw new Problem("REWIND_REFUSED", refusalOf(report.misfits), { report });
  });
}

function shown(report: RewindReport): Result {
  return { kind: "batch", body: JSON.stringify(report) };
}

function noHistory(what: string): unknown {
  const violations = new Violations();
  violations.add(inBody("to"), "noHistory", what);
  return violations.problem();
}
