/** Starts and stops servers as separate programs, so that they do not share an event loop with the measurement. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { node, type RunOptions, wrapperOf } from "./commands.ts";

/** A server under measurement. */
export interface Server {
  port: number;
  child: ChildProcess;
  /** Processes that work for the server and count as a part of it. */
  beside?: readonly number[];
}

/** Starts `bench/ratios/servers/<name>.ts` with one argument as JSON. */
export function startServer(name: string, argument: unknown, options: RunOptions = {}): Promise<Server> {
  return startProgram([...node, `bench/ratios/servers/${name}.ts`, JSON.stringify(argument)], options);
}

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL"); // also if a measurement fails
});

/**
 * Starts a program that prints its port, on a separate line or in the first address in its output. It never writes to a
 * terminal itself, because Holdfast logs every request there.
 */
export async function startProgram(program: readonly string[], options: RunOptions = {}): Promise<Server> {
  const [command = "", ...args] = [...wrapperOf(options), ...program];
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  child.stderr.on("data", (chunk: Buffer) => process.stderr.write(chunk));
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /^\d+$|(?<=http:\/\/127\.0\.0\.1:)\d+/.exec(line)?.[0];
    if (port === undefined) continue;
    child.stdout.resume(); // later output must not fill the pipe
    return { port: Number(port), child };
  }
  throw new Error(`${program.join(" ")} did not start`);
}

/** Starts a program that listens on a given port, and waits until it answers. */
export async function startOnPort(
  program: readonly string[],
  port: number,
  { env = {}, ...options }: RunOptions & { env?: Record<string, string> } = {},
): Promise<Server> {
  const [command = "", ...args] = [...wrapperOf(options), ...program];
  const child = spawn(command, args, { stdio: "ignore", env: { ...process.env, ...env } });
  running.add(child);
  for (const endAt = performance.now() + 30_000; performance.now() < endAt && child.exitCode === null; ) {
    if (await isAnswered(port)) return { port, child };
    await sleep(10);
  }
  throw new Error(`${program.join(" ")} did not start`);
}

/** A free port. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

async function isAnswered(port: number): Promise<boolean> {
  try {
    await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

/** Ends a server, and waits until its process has ended. */
export async function stopServer({ child }: Server, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
  running.delete(child);
  child.kill(signal);
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

/** Ends all servers that still run: a part that failed leaves its servers, and the bench would wait for them for ever. */
export async function stopServers(): Promise<void> {
  await Promise.all([...running].map((child) => stopServer({ child, port: 0 })));
}

/** The address of a server. */
export function originOf({ port }: Server): string {
  return `http://127.0.0.1:${port}`;
}
