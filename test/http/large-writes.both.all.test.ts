/** Writes that change large resources: the memory for them is limited, as for reads. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { textLength } from "../../src/store/port/commit.ts";
import { until } from "../until.ts";
import { check } from "./check.ts";
import { type Request, type Service, startFor } from "./service.ts";

const minimal = { Prefer: "return=minimal" };
const mebibyte = 1024 * 1024;

/** The path of a new resource with this many characters. */
async function createLarge(service: Service, characters: number): Promise<string> {
  return (await service.create("topics", { text: "x".repeat(characters) })).path;
}

/** Uses up the memory with a request whose body does not end. Resolves to a function that releases the memory. */
async function useUp(service: Service, probe: string, bytes: number): Promise<() => Promise<void>> {
  const connection = await service.connect();
  const head = `POST /api/v1/topics HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
  connection.write(`${head}Content-Length: ${bytes + 1}\r\n\r\n${" ".repeat(bytes)}`);
  const statusOf = async () => (await service.send({ path: probe }, { mayFail: true })).status;
  await until("the memory is used up", async () => (await statusOf()) === 503);
  return async () => {
    connection.close();
    await until("the memory is free", async () => (await statusOf()) === 200);
  };
}

/** Writes to the resource at a path that need only a small body. */
function writesTo(path: string): Request[] {
  const [id, below] = [path.split("/").at(-1), path.replace("/api/v1", "")];
  const batch = (operation: object) => ({ operations: [{ path: below, headers: minimal, ...operation }] });
  const json = { "Content-Type": "application/json", ...minimal };
  return [
    { method: "PUT", path, content: { id, n: 1 } },
    { method: "POST", path: `${path}/_restore`, content: { version: 1 }, headers: json },
    { method: "POST", path: "/api/v1/_batch", content: batch({ method: "PATCH", body: { n: 2 } }) },
    { method: "DELETE", path },
  ];
}

test("while the memory is used up, a write to a large resource gets 503 and changes nothing", async (t) => {
  const service = await startFor(t, { wireBounds: { maxHeldBytes: 400_000 } });
  const large = await createLarge(service, 300_000);
  const small = await createLarge(service, 100);
  const giveBack = await useUp(service, large, 500_000);
  for (const request of writesTo(large)) {
    const response = await service.send(request, { mayFail: true });
    check(response, { status: 503, problem: "UNAVAILABLE" });
  }
  assert.equal((await service.send({ method: "DELETE", path: small })).status, 205);
  await giveBack();
  const unchanged = await service.send({ path: large });
  assert.equal(unchanged.headers.etag, '"1"');
  for (const request of writesTo(large)) {
    const { status, text } = await service.send(request);
    assert.ok(status < 300, text);
  }
});

test("a single batch can change more than the memory limit, and gives the memory back", async (t) => {
  const service = await startFor(t, { wireBounds: { maxHeldBytes: 400_000 } });
  const paths: string[] = [];
  for (let n = 0; n < 4; n++) paths.push(await createLarge(service, 200_000));
  for (let n = 1; n <= 3; n++) {
    const operations = paths.map((path) => ({
      method: "PATCH",
      path: path.replace("/api/v1", ""),
      headers: minimal,
      body: { n },
    }));
    const { status, text } = await service.send({
      method: "POST",
      path: "/api/v1/_batch",
      content: { operations },
    });
    assert.equal(status, 200, text);
  }
});

test("a batch that would change more than 128 MiB of resources gets 413, and changes nothing", async (t) => {
  // A thread stands still for as long as it copies one text, so many texts of usual size are sent, and no large one.
  const service = await startFor(t, { limits: { bodyBytes: 2 * mebibyte } });
  const paths: string[] = [];
  for (let n = 0; n < 86; n++) paths.push(await createLarge(service, 1.5 * mebibyte));
  const operations = paths.map((path) => ({ method: "DELETE", path: path.replace("/api/v1", "") }));
  const send = (some: typeof operations) =>
    service.send({ method: "POST", path: "/api/v1/_batch", content: { operations: some } });
  const refused = await send(operations);
  const { code, operation } = refused.json as { code: string; operation: number };
  assert.deepEqual([refused.status, code, operation], [413, "CONTENT_TOO_LARGE", 85]);
  for (const path of paths) assert.equal((await service.send({ method: "HEAD", path })).status, 200);
  assert.equal((await send(operations.slice(1))).status, 200);
});

test("the text that a commit replaces counts as text of the commit", () => {
  const key = { collection: "topics", id: "1" };
  const changes = [
    { key, expect: 1, next: undefined, replaced: 500 },
    { key: { ...key, id: "2" }, expect: "absent", next: "{}" },
  ] as const;
  assert.equal(textLength({ changes, at: 0 }), 502);
});
