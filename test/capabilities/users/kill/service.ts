/**
 * The service as a program with users that kills itself between two calls to its store: `service.ts <store> <port> <ahead>
 * <provider>`. `ahead`: how far its clock is ahead, in milliseconds. `provider`: the settings of a provider as JSON. The folder has
 * the configuration file.
 */

import type { PeopleSettings, Provider } from "../../../../src/capabilities/users/user-settings.ts";
import { loadConfig } from "../../../../src/config.ts";
import { startServer } from "../../../../src/server.ts";
import { Store } from "../../../../src/store/core/store.ts";
import { machineTime, pause } from "../../../until.ts";

/** What the test says to the program. */
export type Order =
  /** Kill yourself at this call to the store, counted from now. `ms`: how long after the call began, if `when` is `during`. */
  | { kill: number; when: "before" | "during" | "after"; ms: number }
  /** Let this time pass, in milliseconds. */
  | { pass: number };

let [left, when, ms] = [Number.POSITIVE_INFINITY, "before", 0];
const [store = "", port = "", ahead, provider = ""] = process.argv.slice(2);
let aheadMs = Number(ahead);

process.on("message", (order: Order) => {
  if ("pass" in order) aheadMs += order.pass;
  else [left, when, ms] = [order.kill, order.when, order.ms];
  process.send?.("done");
});

process.on("disconnect", () => process.exit()); // the test has ended

const killSelf = () => process.kill(process.pid, "SIGKILL");

const methods = ["read", "list", "count", "commit"] as const;
const prototype = Store.prototype as Record<(typeof methods)[number], unknown>;
for (const name of methods) {
  const method = prototype[name] as (...values: unknown[]) => unknown;
  prototype[name] = async function (this: unknown, ...values: unknown[]) {
    const isHere = --left === 0;
    if (isHere && when === "before") killSelf();
    const result = method.apply(this, values);
    if (isHere && when === "during") void pause(ms).then(killSelf);
    if (!isHere || when !== "after") return result;
    await result;
    killSelf();
  };
}

const config = await loadConfig({
  flags: { store, port, threads: "1" },
  env: { HOLDFAST_SECRET: Buffer.alloc(32, 7).toString("base64") },
  cwd: process.cwd(),
});
const users: PeopleSettings = {
  ...(config.users as PeopleSettings),
  methods: ["password", "email", "providers"],
  providers: [JSON.parse(provider) as Provider],
  providerSecrets: { work: "secret of work" },
};
const { origin } = await startServer(
  {
    ...config,
    auth: { ...config.auth, keys: false, administrators: [] },
    tokens: undefined,
    users,
    http: { ...config.http, ofCapabilities: { ...config.http.ofCapabilities, users } },
  },
  { now: () => machineTime() + aheadMs },
);
process.stdout.write(`listens on ${origin}\n`);
