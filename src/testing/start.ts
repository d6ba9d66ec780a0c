/** Starts a service for tests: its store is in memory, and its requests stay in the process. */
import { createClient } from "holdfast-client";
import type { Principal } from "../access/principal.ts";
import type { OpenCapability } from "../capability.ts";
import { didYouMean } from "../collection/messages.ts";
import type { AnyClient } from "../command.ts";
import type { Config } from "../config.ts";
import type { Log } from "../http/service.ts";
import { type OpenService, openService } from "../server/open-service.ts";
import type { TestCaller, TestLog, TestOptions, TestService } from "../testing.ts";
import { TestClock } from "./clock.ts";
import { configurationForTests } from "./configuration.ts";
import { createFetch } from "./fetch.ts";

/** Starts a service. Throws StartError with the faults of the configuration, and TypeError for an option that does not exist. */
export async function startInMemory(
  given: object,
  options: TestOptions,
): Promise<Omit<TestService<object>, "client"> & { client(caller?: TestCaller): AnyClient }> {
  requireKnown("start", options, ["now", "env", "log"]);
  const { now, env = {}, log = console } = options;
  const clock = new TestClock(now);
  const config = await configurationForTests(given, env);
  const opened = await openService(config, {
    log: logTo(log),
    isForTests: true,
    clock,
    now: clock.now,
    elapsed: clock.elapsed,
    // The store would compare the times of the service with the clock of the machine.
    storeOptions: { sweepMs: Number.POSITIVE_INFINITY },
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
    ...membersOf(opened, requireRunning),
    client: (caller) =>
      createClient({
        baseUrl: origin + config.http.prefix,
        routes: routesIn(config),
        fetch: guarded(caller && principalOf(caller, config.auth !== undefined)),
      }),
    fetch: guarded(),
    advance: async (ms) => {
      requireRunning();
      clock.move(ms);
      await opened.sweepExpired();
      for (const each of Object.values<OpenCapability>(opened.capabilities)) await each.runDue?.();
    },
    stop: () => {
      stopped ??= opened.close();
      return stopped;
    },
  };
}

/** The routes, as the client takes them: each with its method and its path. */
function routesIn({ code }: Config) {
  const routes = [...code.routes.values()];
  return Object.fromEntries(
    routes.map(({ name, method, path }) => [name, `${method} ${path.slice(1)}` as const] as const),
  );
}

type OfCapabilities = Omit<TestService<object>, "client" | "fetch" | "advance" | "stop">;

/** What capabilities add to a service. */
function membersOf({ capabilities }: OpenService, requireRunning: () => void): OfCapabilities {
  const all = Object.values<OpenCapability>(capabilities).flatMap(({ inTests = {} }) =>
    Object.entries(inTests),
  );
  const guarded = all.map(([name, work]) => [
    name,
    async (...args: never[]) => {
      requireRunning();
      return work(...args);
    },
  ]);
  return Object.fromEntries(guarded);
}

/** Errors and warnings go to the log of the test. Its other lines are only information. */
function logTo(log: TestLog): Log {
  return {
    info: () => {},
    warn: (...line: unknown[]) => log.warn(...line),
    error: (...line: unknown[]) => log.error(...line),
  };
}

/** A test in JavaScript has no types that would find a wrong name. */
function requireKnown(what: string, given: object, known: readonly string[]): void {
  const wrong = Object.keys(given).find((name) => !known.includes(name));
  if (wrong === undefined) return;
  throw new TypeError(
    `${what} has no option "${wrong}".${didYouMean(wrong, known)} Its options: ${known.join(", ")}.`,
  );
}

function principalOf(caller: TestCaller, hasAuth: boolean): Principal {
  requireKnown("client", caller, ["subject", "roles", "claims"]);
  const { subject, roles = [], claims = {} } = caller;
  if (!Array.isArray(roles)) throw new TypeError('roles must be a list, such as ["organiser"].');
  if (!hasAuth)
    throw new Error(
      "The configuration has no auth, so the service does not identify callers. Leave the caller out, or add auth.",
    );
  return { subject, roles, claims, scopes: undefined };
}
