/** The memory of the running service over 1,000,000 mixed requests. */

import { compiledProgram } from "../harness/compiled.ts";
import type { Effort } from "../harness/effort.ts";
import type { Figure } from "../harness/figure.ts";
import { inFolder } from "../harness/folder.ts";
import { startProgram, stopServer } from "../harness/server.ts";
import { ownMb, residentMb } from "../harness/usage.ts";
import { load } from "../load/load.ts";
import { requestText } from "../load/requests.ts";
import { fillStore } from "./fill.ts";
import { sampleAttributes } from "./sample.ts";

const resources = 20_000;

/** Measures resident memory after each tenth of the requests, in MB. */
export function measureMemory({ share }: Effort): Promise<Figure[]> {
  const requests = 1_000_000 * share;
  return inFolder(async (folder) => {
    const store = `${folder}/memory.db`;
    const ids = await fillStore(store, resources, sampleAttributes);
    const serve = ["serve", "--port", "0", "--store", `sqlite:${store}`];
    const server = await startProgram([...compiledProgram(), ...serve]);
    const sizes: number[] = [];
    const own: number[] = [];
    let sent = 0;
    const mixed = mixedRequests(ids);
    while (sent < requests) {
      const durationMs = Math.ceil(4 * share) * 1_000;
      const { answers } = await load({
        port: server.port,
        connections: 64,
        warmUpMs: 0,
        durationMs,
        requests: mixed,
      });
      sent += answers;
      sizes.push(residentMb(server));
      own.push(ownMb(server));
    }
    await stopServer(server);
    const largest = Math.max(...sizes);
    const value = `${Math.round(sent)} requests; MB after each round: ${sizes.map(Math.round).join(" ")}, of which are no pages of files: ${own.map(Math.round).join(" ")}`;
    return [
      {
        what: `resident memory after ${requests.toLocaleString("en")} mixed requests, MB`,
        ratio: largest,
        aim: { atMost: 200 },
        value,
      },
    ];
  });
}

/** Reads, replaces, patches, creates, pages, misses and faults. */
function mixedRequests(ids: readonly string[]): string[] {
  return ids.slice(0, 10_000).flatMap((id, n) => {
    const path = `/api/v1/articles/${id}`;
    const all: string[] = [
      requestText("GET", path),
      requestText("GET", `/api/v1/articles/${id}x`),
      requestText("PUT", path, JSON.stringify({ id, ...sampleAttributes(n + 1) })),
      requestText("PATCH", path, JSON.stringify({ rating: n % 5 })),
      requestText("GET", "/api/v1/articles?limit=5"),
      requestText("POST", "/api/v1/articles", '{"broken":'),
    ];
    return n % 10 === 0
      ? [...all, requestText("POST", "/api/v1/articles", JSON.stringify(sampleAttributes(n)))]
      : all;
  });
}
