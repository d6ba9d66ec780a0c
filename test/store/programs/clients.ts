/**
 * Runs random clients on a store, again and again until it is killed. The arguments name the store. It says each call and each outcome
 * as a line of JSON at once, so that it may be killed at any moment.
 */
import { writeSync } from "node:fs";
import fc from "fast-check";
import { openStore, type StoreAddress } from "../../../src/store/open.ts";
import { type Call, runClients } from "../contract/model/clients.ts";
import { plans } from "../contract/model/plans.ts";

const [address = "", name = "", at, seed] = process.argv.slice(2);
const store = await openStore(JSON.parse(address) as StoreAddress);
const [plan = []] = fc.sample(plans({ min: 24, max: 24 }, 60), { seed: Number(seed), numRuns: 1 });

let last = 0;
const note = (call: Call) => {
  const number = ++last;
  say({ number, call });
  return (outcome: object) => say({ number, outcome });
};
function say(what: object): void {
  const line = Buffer.from(`${JSON.stringify(what)}\n`);
  for (let from = 0; from < line.length; ) from += write(line, from);
}
/** Writes without `process.stdout`, so that the other process has the text when this returns. */
function write(line: Buffer, from: number): number {
  try {
    return writeSync(1, line, from);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    return 0;
  }
}

for (let round = 0; ; round++)
  await runClients(store, plan, { at: Number(at), name: `${name}.${round}`, note });
