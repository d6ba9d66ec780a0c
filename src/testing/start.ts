/** Starts a service for tests: its store is in memory, and its requests stay in the process. */
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "holdfast-client";
import type { Principal } from "../access/principal.ts";
import type { AnyClient } from "../command.ts";
import type { Log } from "../http/service.ts";
import { type OpenService, openService } from "../server/open-service.ts";
import type { TestCaller, TestLog, TestMail, TestOptions, TestService } from "../testing.ts";
import { TestClock } from "./clock.ts";
import { configurationForTests } from "./configuration.ts";
import { createFetch } from "./fetch.ts";

/** Starts a service. Throws StartError with the faults of the configuration. */
export async function startInMemory(
  given: object,
  { now, env = {}, log = console }: TestOptions,
): Promise<Omit<TestService<object>, "client"> & { client(caller?: TestCaller): AnyClient }> {
  const clock = new TestClock(now);
  const config = await configurationForTests(given, env);
  const mails: TestMail[] = [];
  const opened = await openService(config, {
    log: logTo(log),
    now: clock.now,
    elapsed: clock.elapsed,
    // The store would compare the times of the service with the clock of the machine.
    storeOptions: { sweepMs: Number.POSITIVE_INFINITY },
    users: { onLocalMail: (mail) => void mails.push(mail) },
  });
  const origin = config.publicUrl ?? "http://localhost";
  const fetchOf = createFetch(opened.service, origin);
  let stopped: Promise<void> | undefined;
  const requireRunning = () => {
    if (stopped !== undefined) throw new Error("The service has stopped.");
  };
  const guarded = (principal?: Principal): typeof fetch => {
    const send = fetchOf(principal);
    return async (...args) => {
      requireRunning();
      return send(...args);
    };
  };
  return {
    client: (caller) =>
      createClient({
        baseUrl: origin + config.http.prefix,
        fetch: guarded(caller && principalOf(caller, config.auth !== undefined)),
      }),
    fetch: guarded(),
    mail: async () => {
      requireRunning();
      await untilSent(opened);
      return [...mails];
    },
    advance: async (ms) => {
      requireRunning();
      clock.move(ms);
      await opened.sweepExpired();
    },
    stop: () => {
      stopped ??= opened.close();
      return stopped;
    },
  };
}

/** Errors and warnings go to the log of the test. Its other lines are about the start and about mails, which `mail` returns. */
function logTo(log: TestLog): Log {
  return {
    info: () => {},
    warn: (...line: unknown[]) => log.warn(...line),
    error: (...line: unknown[]) => log.error(...line),
  };
}

function principalOf({ subject, roles = [], claims = {} }: TestCaller, hasAuth: boolean): Principal {
  if (!hasAuth)
    throw new Error(
      "The configuration has no auth, so the service does not identify callers. Leave the caller out, or add auth.",
    );
  return { subject, roles, claims, scopes: undefined };
}

/** Resolves when no mail waits. Throws an Error without `auth.users`. */
async function untilSent({ capabilities }: OpenService): Promise<void> {
  const { people } = capabilities.users;
  if (people === undefined) throw new Error("The service sends no mails, because it has no auth.users.");
  while ((await people.mail.state()).waiting > 0) await delay(1);
}
