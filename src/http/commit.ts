/** Asks the store to write, and waits for no longer than a client should. */
import { Problem } from "../errors.ts";
import type { Change } from "../store/store.ts";
import type { Service } from "./service.ts";

/** Commits one change; gives the version that it made, and when. */
export async function commit(
  service: Service,
  change: Change,
): Promise<{ version: number; updatedAt: number }> {
  const at = service.now();
  const [committed] = await withinDeadline(
    service,
    service.store.commit({ changes: [change], at }),
    outcomeUnknown,
  );
  if (committed === undefined) throw new Error("the store committed a change and does not know which");
  return { version: committed.version, updatedAt: at };
}

/** A commit that takes too long may still happen: the client is told that nobody knows. */
function outcomeUnknown(): Problem {
  return new Problem(
    "OUTCOME_UNKNOWN",
    "The write took too long and may still happen. Read before you repeat it.",
  );
}

/** For what prepares a write and may happen later without harm: a collection made, or an id that nobody uses. */
export function inTime<T>(service: Service, work: Promise<T>): Promise<T> {
  return withinDeadline(
    service,
    work,
    () => new Problem("UNAVAILABLE", "The store took too long; nothing was written. Try again."),
  );
}

function withinDeadline<T>(service: Service, work: Promise<T>, problemWhenLate: () => Problem): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(problemWhenLate()), service.settings.limits.handlerTimeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
