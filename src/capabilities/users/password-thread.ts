/** The thread that hashes passwords, one at a time: the memory of a hash is needed as often as there are threads. */
import { argon2Sync } from "node:crypto";
import { parentPort } from "node:worker_threads";
import { lowerThreadPriority } from "../../program.ts";

/** What one hash is made of. `memory` is in KiB. */
export interface HashTask {
  message: Uint8Array;
  nonce: Uint8Array;
  memory: number;
  passes: number;
  parallelism: number;
  tagLength: number;
}

/** A hash, and how long it took. */
export interface HashResult {
  tag: Uint8Array;
  seconds: number;
}

function hash(task: HashTask): HashResult {
  const begun = performance.now();
  // The asynchronous form would occupy the pool of threads that files, DNS and compression need.
  const tag = argon2Sync("argon2id", task);
  return { tag, seconds: (performance.now() - begun) / 1_000 };
}

const port = parentPort;
if (port === null) throw new Error("This file is the thread that hashes passwords.");
// A flood of wrong passwords must not slow down reads (`npm run bench -- passwords`). While 64 of them wait, on two processors that are
// busy with other work too, reads keep 88 % of their rate. With half of the difference they keep 80 %, and without one 60 %. The price:
// on such a machine a hash gets about a tenth of a processor, and a sign-in takes three seconds instead of a half.
lowerThreadPriority();
port.on("message", (task: HashTask) => port.postMessage(hash(task)));
