/** What reads feel of passwords that are checked: as many as wait at the same moment, all of them wrong. */
import { writeFileSync } from "node:fs";
import { newSecret } from "../../src/secrets.ts";
import { type Effort, shareOf } from "../harness/effort.ts";
import { type Figure, figureOf, median, showMs, showRate } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { startServer, stopServer } from "../harness/server.ts";
import { untilIdle } from "../harness/usage.ts";
import { load } from "../load/load.ts";
import { requestText } from "../load/requests.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

/** Measures the p99 of GET by id, idle and while 64 wrong passwords are sent again and again. */
export function measurePasswords(effort: Effort): Promise<Figure[]> {
  return inFolder(async (folder) => {
    const store = `${folder}/passwords.db`;
    const ids = await fillStore(store, shareOf(effort, 100_000), sampleAttributes);
    const config = `${folder}/holdfast.json`;
    const access = { read: "public" };
    writeFileSync(
      config,
      JSON.stringify({
        collections: { users: { access }, articles: { access } },
        auth: { users: { collection: "users" } },
        trustProxy: ["127.0.0.1"],
        publicUrl: "https://shop.example",
        mail: { from: "noreply@shop.example", smtp: "smtp://127.0.0.1:1" },
      }),
    );
    const server = await startServer("holdfast", { store, config, secret: newSecret() });
    const warmUpMs = Math.max(1_000, effort.warmUpMs);
    const durationMs = 2 * effort.durationMs;
    const reads = {
      port: server.port,
      connections: 16,
      warmUpMs,
      durationMs,
      requests: Array.from({ length: 5_000 }, (_, n) =>
        requestText("GET", `/api/v1/articles/${ids[(n * 7919) % ids.length]}`),
      ),
    };
    // Each from another network and for another address, so that no limit of guesses refuses one.
    const wrong = Array.from({ length: 20_000 }, (_, n) =>
      requestText(
        "POST",
        "/api/v1/_auth/sign-in",
        JSON.stringify({ email: `person${n}@example.org`, password: "a wrong password" }),
        { "X-Forwarded-For": `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` },
      ),
    );
    const passwords = {
      port: server.port,
      connections: 64,
      warmUpMs: 0, // the requests that it leaves behind would still wait
      durationMs: warmUpMs + durationMs,
      requests: wrong,
      counts: true,
    };
    const rounds = { ours: [] as number[], theirs: [] as number[], checked: [] as number[] };
    for (let round = 0; round < effort.rounds; round++) {
      await untilIdle(server);
      rounds.theirs.push((await load(reads)).p99);
      const [checked, busy] = await Promise.all([load(passwords), load(reads)]);
      if ((checked.statuses["401"] ?? 0) !== checked.answers)
        throw new Error(`expected only wrong passwords, but got ${JSON.stringify(checked.statuses)}`);
      rounds.ours.push(busy.p99);
      rounds.checked.push(checked.perSecond);
    }
    await stopServer(server);
    const figure = figureOf("GET p99 while 64 wrong passwords wait against idle", rounds, {
      aim: { atMost: 2 },
      show: showMs,
    });
    return [{ ...figure, value: `${figure.value}, with ${showRate(median(rounds.checked))} of passwords` }];
  });
}
