/** Histories are linearizable, whichever of several threads answers each client. Each client has a connection of its own. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { serve, stop } from "../commands/cli.ts";
import { makeFolder } from "../folder.ts";
import { databaseFor } from "../postgres/databases.ts";
import { seed } from "../seed.ts";
import { clientOf } from "../threads/served.ts";
import { linearize } from "./checker.ts";
import { clients, collectionOf, recordHistories, show } from "./histories.ts";

const histories = Number(process.env.HOLDFAST_TEST_RUNS ?? 20);
console.log(`HOLDFAST_TEST_SEED=${seed}, ${histories} histories`);

/** Connections for each client. They belong to different threads by chance, so that more of them reach every thread. */
const connectionsPerClient = 4;

describe("concurrent operations on one resource", () => {
  for (const [kind, threads] of [
    ["sqlite", 2],
    ["sqlite", 4],
    ["postgres", 2],
  ] as const)
    test(`are linearizable with ${threads} threads on ${kind}`, async (t) => {
      const names = Array.from({ length: histories }, (_, n) => collectionOf(n));
      const collections = Object.fromEntries(names.map((name) => [name, { id: "integer" }]));
      const store = kind === "postgres" ? await databaseFor(t) : undefined;
      const configuration = { collections, ...(store && { store }) };
      const cwd = makeFolder({ "holdfast.config.json": JSON.stringify(configuration) });
      const service = await serve(t, ["--threads", String(threads)], { cwd });
      const connections = Array.from({ length: clients * connectionsPerClient }, () =>
        clientOf(t, service.origin),
      );
      let turn = 0;
      const recorded = await recordHistories(
        {
          port: Number(new URL(service.origin).port),
          send(client, { method, path, headers, content }) {
            const connection = connections[client * connectionsPerClient + (turn++ % connectionsPerClient)];
            assert.ok(connection !== undefined);
            return connection.send(method, path, { headers, content });
          },
        },
        { seed, histories },
      );
      for (const history of recorded) assert.ok(linearize(history), show(history));
      assert.equal((await stop(service)).exitCode, 0);
    });
});
