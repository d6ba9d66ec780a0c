/** Sign-ins by password per second against what argon2id alone allows one thread. */

import { argon2Sync, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Effort } from "../harness/effort.ts";
import { type Figure, figureOf, showRate } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { originOf, type Server, startServer, stopServer } from "../harness/server.ts";
import { load } from "../load/load.ts";
import { requireStatus } from "../load/plan.ts";
import { requestText } from "../load/requests.ts";
import { makeKey } from "./auth.ts";

const password = "correct horse battery staple";
const email = "ada@example.org";

/** Enough that the thread that hashes never waits. Twice as many may wait for one network: a load leaves hashes behind. */
const connections = 2;

const access = { read: "public", write: "authenticated" };
const config = {
  collections: { users: { access } },
  auth: {
    keys: true,
    administrators: [{ subject: "bench" }],
    users: { collection: "users", signUp: "open" },
  },
};

/** Measures hashes alone and sign-ins alone, in turn. `passwords` measures what reads feel of them. */
export function measureSignIns(effort: Effort): Promise<Figure[]> {
  return inFolder(async (folder) => {
    const store = `${folder}/users.db`;
    const key = await makeKey(store);
    const file = `${folder}/holdfast.json`;
    writeFileSync(file, JSON.stringify(config));
    const server = await startServer("holdfast", { store, config: file });
    await signUp(server, key);
    const durationMs = 3 * effort.durationMs;
    const signIns = {
      port: server.port,
      connections,
      warmUpMs: 0,
      durationMs,
      counts: true,
      requests: [requestText("POST", "/api/v1/_auth/sign-in", JSON.stringify({ email, password }))],
    };
    const rates = { ours: [] as number[], theirs: [] as number[] };
    for (let round = 0; round < effort.rounds; round++) {
      rates.theirs.push(hashesPerSecond(durationMs));
      const result = await load(signIns);
      requireStatus(result, "200");
      rates.ours.push(result.perSecond);
    }
    await stopServer(server);
    return [
      figureOf("sign-ins by password per second against argon2id alone, one thread", rates, {
        aim: { atLeast: 0.9 },
        show: showRate,
      }),
    ];
  });
}

/** The same hash as the service makes: 19 MiB, 2 passes, 1 lane. */
function hashesPerSecond(durationMs: number): number {
  const task = {
    message: Buffer.from(password),
    nonce: randomBytes(16),
    memory: 19_456,
    passes: 2,
    parallelism: 1,
    tagLength: 32,
  };
  const begin = performance.now();
  let count = 0;
  while (performance.now() - begin < durationMs) {
    argon2Sync("argon2id", task);
    count++;
  }
  return (1_000 * count) / (performance.now() - begin);
}

/** Makes the account. The administrator reads the code in the mails that a local service keeps. */
async function signUp(server: Server, key: string): Promise<void> {
  const base = `${originOf(server).replace("127.0.0.1", "localhost")}/api/v1`;
  const post = async (path: string, content: object) => {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(`${base}/_auth/${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(content),
    });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as { ticket: string };
  };
  const { ticket } = await post("sign-up", { email, password });
  for (let tries = 0; tries < 100; tries++) {
    const mails = await fetch(`${base}/_mails`, { headers: { Authorization: `Bearer ${key}` } });
    const [code] = /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(await mails.text()) ?? [];
    if (code !== undefined) {
      await post("sign-in", { ticket, code });
      return;
    }
    await sleep(100);
  }
  throw new Error("the mail with the code did not come");
}
