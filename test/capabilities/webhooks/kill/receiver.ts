/**
 * A receiver as a program: `receiver.ts <port>`. It reports its port, and each delivery before it responds. The message
 * `{ kill, when }` lets it kill a process once, before or after the next response.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pause } from "../../../until.ts";

/** What the receiver reports. */
export type Report = { port: number } | { delivery: Delivery } | { killed: number };

export interface Delivery {
  id: string;
  body: string;
}

export interface KillOrder {
  kill: number;
  when: "before" | "after";
}

/** Some deliveries take long, so that later ones are answered before them. */
const slow = { each: 7, ms: 200 };

let requests = 0;
let order: KillOrder | undefined;
process.on("message", (message) => {
  order = message as KillOrder;
});
process.on("disconnect", () => process.exit());

const report = (message: Report) =>
  new Promise<void>((sent) => process.send?.(message, undefined, undefined, () => sent()));

function kill({ kill: pid }: KillOrder): void {
  order = undefined;
  process.kill(pid, "SIGKILL");
  void report({ killed: pid });
}

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return; // the sender was killed
  }
  const body = Buffer.concat(chunks).toString();
  if (++requests % slow.each === 0) await pause(slow.ms);
  if (order?.when === "before") return kill(order);
  await report({ delivery: { id: String(request.headers["webhook-id"]), body } });
  response.writeHead(204).end(() => {
    if (order?.when === "after") kill(order);
  });
});
server.listen(Number(process.argv[2]), "127.0.0.1", () =>
  report({ port: (server.address() as AddressInfo).port }),
);
