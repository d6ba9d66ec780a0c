/** Clients in a separate process, which is killed while they write. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { StoreAddress } from "../../../../src/store/open.ts";
import type { Call, Note, Outcome } from "./clients.ts";

/** One life of the process. */
export interface Life {
  address: StoreAddress;
  /** The start of the marks of its commits. */
  name: string;
  at: number;
  /** The seed for the steps of its clients. */
  seed: number;
  /** The number of lines after which it is killed. Each call and each outcome is a line. */
  lines: number;
}

const program = join(import.meta.dirname, "../../programs/clients.ts");

/** Runs the process. Returns whether it was killed. It can end before. */
export async function live({ address, name, at, seed, lines }: Life, note: Note): Promise<boolean> {
  const args = [program, JSON.stringify(address), name, String(at), String(seed)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const answers = new Map<number, (outcome: Outcome) => void>();
  let said = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    said++;
    if (said === lines) child.kill("SIGKILL");
    hear(line, answers, note);
  }
  const [code] = await exited;
  if (!child.killed) assert.equal(code, 0, "the clients failed");
  return child.killed;
}

function hear(line: string, answers: Map<number, (outcome: Outcome) => void>, note: Note): void {
  const said = parse(line);
  if (said === undefined) return;
  if (said.call !== undefined) answers.set(said.number, note(said.call));
  if (said.outcome !== undefined) answers.get(said.number)?.(said.outcome);
}

/** Parses a line; `undefined` for the last line if it is incomplete. */
function parse(line: string): { number: number; call?: Call; outcome?: Outcome } | undefined {
  try {
    return JSON.parse(line) as { number: number };
  } catch {
    return undefined;
  }
}
