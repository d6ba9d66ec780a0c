/** Clients that do not read their answers, and something large to ask for. */
import { connect, type Socket } from "node:net";
import type { Service } from "./service.ts";

/** A connection that has sent this and reads nothing until it is resumed. */
export async function openUnread(port: number, bytes: string): Promise<Socket> {
  const socket = connect({ host: "127.0.0.1", port });
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.pause();
  socket.write(bytes);
  return socket;
}

/** A collection whose one page has about 2 MiB: several of them are more than the kernel takes for a connection. */
export async function createPage(service: Service): Promise<string> {
  for (let n = 0; n < 4; n++) await service.create("large", { text: "x".repeat(510_000) });
  return "/api/v1/large";
}
