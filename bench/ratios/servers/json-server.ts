/** json-server, as its command runs it, with a collection `articles` that it keeps in memory. */
import { readFileSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createRequire } from "node:module";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** The part of json-server that is used here. It has no types. */
interface JsonServer {
  create(): { use(handler: Handler | readonly Handler[]): void; listen(port: number, host: string): Server };
  defaults(options: { logger: boolean }): readonly Handler[];
  router(content: unknown): Handler;
}

const { file } = JSON.parse(process.argv[2] as string) as { file: string };
const jsonServer = createRequire(`${process.cwd()}/test/package.json`)("json-server") as JsonServer;
const app = jsonServer.create();
app.use(jsonServer.defaults({ logger: false }));
app.use(jsonServer.router(JSON.parse(readFileSync(file, "utf8"))));
const server = app.listen(0, "127.0.0.1");
server.once("listening", () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : 0}\n`);
});
