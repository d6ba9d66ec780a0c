/** The yardstick for creates: node:http and the same store, with nothing checked on the way. */
import { createServer } from "node:http";
import { createUuidSource } from "../../../src/collection/uuids.ts";
import { openStore } from "../../../src/store/open.ts";
import { sayPort } from "../../harness/say-port.ts";

const { store: path } = JSON.parse(process.argv[2] as string) as { store: string };
const store = await openStore({ kind: "sqlite", path });
await store.migrate([{ name: "articles", idKind: "uuid", schema: undefined, indexes: [], search: [] }]);
const newUuid = createUuidSource();

const server = createServer((request, response) => {
  let text = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => {
    text += chunk;
  });
  request.on("end", async () => {
    const id = newUuid();
    const next = `{"id":"${id}",${text.slice(1)}`;
    await store.commit({
      changes: [{ key: { collection: "articles", id }, expect: "absent", next }],
      at: Date.now(),
    });
    const length = Buffer.byteLength(next);
    response.writeHead(201, { "content-type": "application/json", "content-length": length });
    response.end(next);
  });
});
server.listen(0, "127.0.0.1", () => sayPort(server));
