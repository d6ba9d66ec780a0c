/** Ports for what cannot listen on port 0: programs that must be given a number, and servers that are not there yet. */
import { once } from "node:events";
import { createServer } from "node:net";

/** The system gives no ports below this one to servers on port 0 and to clients, so nobody gets one of these by chance. */
const end = 32_768;
const first = 12_768;

/** Each process begins at another port, in steps of so many. */
const portsOfProcess = 16;

let next = (process.pid * portsOfProcess) % (end - first);

/** A port of this machine on which nobody listens. Only what is given the same number gets it. */
export async function quietPort(): Promise<number> {
  for (;;) {
    const port = first + next;
    next = (next + 1) % (end - first);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port);
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}

/** Starts something on a port that it must be given. `start` throws if it does not work: another port is tried then. */
export async function onFreePort<T>(start: (port: number) => Promise<T>, tries = 5): Promise<T> {
  try {
    return await start(await quietPort());
  } catch (error) {
    if (tries === 1) throw error;
    return onFreePort(start, tries - 1);
  }
}
