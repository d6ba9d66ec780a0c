/** Servers as programs of their own, so that what is measured shares no event loop with what measures. */
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
  /** Processes that work for it and are counted with it. */
  beside?: readonly number[];
}

/** Starts `bench/ratios/servers/<name>.ts` with one argument as JSON. */
export function startServer(name: string, argument: unknown, options: RunOptions = {}): Promise<Server> {
  return startProgram([...node, `bench/ratios/servers/${name}.ts`, JSON.stringify(argument)], options);
}

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL"); // also where a measurement fails
});

/** Starts a program that prints the port that it listens on, on a line of its own or in the first address that it names. */
export async function startProgram(program: readonly string[], options: RunOptions = {}): Promise<Server> {
  const [command = "", ...args] = [...wrapperOf(options), ...program];
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  running.add(child);
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /^\d+$|(?<=http:\/\/127\.0\.0\.1:)\d+/.exec(line)?.[0];
    if (port === undefined) continue;
    child.stdout.resume(); // what is printed later must not fill the pipe
    return { port: Number(port), child };
  }
  throw new Error(`${program.join(" ")} did not start`);
}

/** Starts a program that listens on a port that it is given. */
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

/** A port that nobody listens on. */
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

/** Ends a server and waits until it is gone. */
export async function stopServer({ child }: Server, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
  running.delete(child);
  child.kill(signal);
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

/** The address of a server. */
export function originOf({ port }: Server): string {
  return `http://127.0.0.1:${port}`;
}
