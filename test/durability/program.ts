/** Runs the service as a separate program that tests can trace and kill. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";
import { node } from "../node.ts";
import { usualThreads } from "../threads/count.ts";

/** A running program, and its port. */
export interface Program {
  child: ChildProcess;
  port: number;
}

/**
 * Starts `holdfast serve` on a store. `wrapper` is a command that runs it, such as strace; `from` is a folder with another version of
 * the program.
 */
export function startProgram(
  store: string,
  wrapper: readonly string[] = [],
  flags: readonly string[] = [],
  from = ".",
): Promise<Program> {
  const command = [join(from, "bin/holdfast.js"), "serve", "--port", "0", "--store", `sqlite:${store}`];
  return start([...wrapper, ...node, ...command, ...flags]);
}

/** Starts `holdfast serve` on the store at an address. */
export function startStore(address: string, flags: readonly string[] = []): Promise<Program> {
  return start([...node, "bin/holdfast.js", "serve", "--port", "0", "--store", address, ...flags]);
}

/** Imports lines of JSON into a collection of a store that no service uses. */
export async function importLines(
  address: string,
  collection: string,
  lines: Iterable<string>,
  flags: readonly string[] = [],
): Promise<void> {
  const command = ["bin/holdfast.js", "import", collection, "-", "--store", address, ...flags];
  const [program = "", ...args] = [...node, ...command];
  const child = spawn(program, args, { stdio: ["pipe", "ignore", "inherit"], env: ownEnvironment() });
  const ended = once(child, "exit");
  await pipeline(lines, child.stdin);
  const [status] = await ended;
  if (status !== 0) throw new Error(`the import ended with ${status}`);
}

/** Starts a program of the tests that prints its address like the service. */
export function startScript(file: string, args: readonly string[]): Promise<Program> {
  return start([...node, file, ...args]);
}

async function start([command = "", ...args]: string[]): Promise<Program> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"], env: ownEnvironment() });
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /listens on\s+http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port !== undefined) return { child, port: Number(port) };
  }
  throw new Error(`the service did not start: exit code ${child.exitCode}`);
}

/** The environment without the variables of tests, which the program refuses. A flag of the test can change the threads. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith("HOLDFAST_"));
  return { ...Object.fromEntries(others), HOLDFAST_THREADS: String(usualThreads) };
}

/** Ends a program with a signal, and waits until its process has ended. */
export async function end({ child }: Program, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, "exit");
}

/** A response; `undefined` if the connection ended first. */
export type Answer = { status: number; headers: IncomingHttpHeaders; text: string } | undefined;

/** A client with its own connections. */
export function createClient(port: number): {
  send(method: string, path: string, body?: unknown, more?: Record<string, string>): Promise<Answer>;
  close(): void;
} {
  const agent = new Agent({ keepAlive: true });
  const send = (method: string, path: string, body?: unknown, more: Record<string, string> = {}) =>
    new Promise<Answer>((resolve) => {
      const content = body === undefined ? "" : JSON.stringify(body);
      const length = Buffer.byteLength(content);
      const headers = { "content-type": "application/json", "content-length": length, ...more };
      const call = request(
        { agent, host: "127.0.0.1", port, method, path: `/api/v1${path}`, headers },
        (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => {
            text += chunk;
          });
          response.on("end", () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
          );
          response.on("error", () => resolve(undefined));
          response.on("aborted", () => resolve(undefined));
        },
      );
      call.on("error", () => resolve(undefined));
      call.end(content);
    });
  return { send, close: () => agent.destroy() };
}
