/** The typed client prevents lost updates. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  type Client,
  ConflictError,
  createClient,
  HoldfastError,
  ProblemError,
} from "../../client/src/index.ts";
import { type Service, startService } from "../http/service.ts";
import { config } from "./config.ts";

describe("the client loses no update:", () => {
  let service: Service;
  let client: Client<typeof config>;
  before(async () => {
    service = await startService({ collections: config.collections });
    client = createClient<typeof config>({ baseUrl: `${service.origin}/api/v1` });
  });
  after(() => service.stop());

  /** A resource that another client has changed since it was read. */
  const stale = async () => {
    const read = await client.articles.create({ title: "One", views: 1 });
    await client.articles.patch(read.id, { views: 2 });
    return read;
  };
  const isConflict = (error: unknown) => {
    assert.ok(error instanceof ConflictError);
    assert.equal(error.code, "PRECONDITION_FAILED");
    assert.equal(error.current?.views, 2);
    return true;
  };

  test("a write of what has changed since it was read is a conflict, with the resource as it is now", async () => {
    const read = await stale();
    await assert.rejects(client.articles.replace({ ...read, title: "Two" }), isConflict);
    await assert.rejects(client.articles.patch(read, { title: "Two" }), isConflict);
    await assert.rejects(client.articles.delete(read), isConflict);
    assert.equal((await client.articles.get(read.id)).title, "One");
  });

  test("what the conflict carries can be changed and sent", async () => {
    const read = await stale();
    const error = await client.articles.replace(read).catch((error: unknown) => error);
    assert.ok(error instanceof ConflictError);
    const current = error.current as typeof read;
    assert.equal((await client.articles.replace({ ...current, title: "Two" })).views, 2);
  });

  test("the conflict over what is gone carries nothing", async () => {
    const read = await client.articles.create({ title: "One" });
    await client.articles.delete(read.id);
    await assert.rejects(
      client.articles.replace(read),
      (error) => error instanceof ProblemError && error.status === 404,
    );
  });

  test("an ETag survives spreading and assigning, and is no attribute", async () => {
    const read = await client.articles.create({ title: "One" });
    const { title: _, ...rest } = read;
    const copies = [
      { ...read },
      Object.assign({ title: "" }, read),
      { ...rest, title: "Two" },
      new Proxy(read, {}),
    ];
    for (const copy of copies) {
      assert.deepEqual(Object.keys(copy).sort(), ["id", "status", "title"]);
      const other = await client.articles.create({ ...copy, id: undefined });
      await client.articles.delete(other);
    }
    let current = read;
    for (const views of [1, 2, 3]) current = await client.articles.replace({ ...current, views });
    assert.equal(current.views, 3);
  });

  test("without a known ETag nothing is replaced unless it is said that any state will do", async () => {
    const read = await client.articles.create({ title: "One" });
    const other = await client.articles.create({ title: "Other" });
    const [listed] = await client.articles.list({ filter: { id: read.id } }).all();
    assert.ok(listed);
    const unknown = [JSON.parse(JSON.stringify(read)) as typeof read, { ...read, id: other.id }, listed];
    for (const resource of unknown)
      await assert.rejects(
        client.articles.replace(resource),
        (error) => error instanceof HoldfastError && /ifMatch/.test(error.message),
      );
    assert.equal((await client.articles.replace({ ...listed, title: "Two" }, { ifMatch: "*" })).title, "Two");
    await assert.rejects(
      client.articles.replace({ ...listed, title: "Three" }, { ifMatch: '"1"' }),
      ConflictError,
    );
  });

  test("a part of a resource does not replace the whole", async () => {
    const { id } = await client.articles.create({ title: "One", views: 1 });
    const part = await client.articles.get(id, { fields: ["title"] });
    await assert.rejects(client.articles.replace(part), /read with fields/);
    assert.equal((await client.articles.patch(part, { title: "Two" })).views, 1);
  });

  test("updates at the same time all count", async () => {
    const { id } = await client.articles.create({ title: "One", views: 0 });
    const more = () =>
      client.articles.update(id, ({ views = 0, ...others }) => ({ ...others, views: views + 1 }), {
        attempts: 20,
      });
    await Promise.all(Array.from({ length: 8 }, more));
    assert.equal((await client.articles.get(id)).views, 8);
  });

  test("an update gives up after so many tries", async () => {
    const { id } = await client.articles.create({ title: "One", views: 0 });
    let tries = 0;
    const never = client.articles.update(
      id,
      async (current) => {
        tries++;
        await client.articles.patch(id, { views: tries });
        return { ...current, title: "Two" };
      },
      { attempts: 3 },
    );
    await assert.rejects(never, ConflictError);
    assert.equal(tries, 3);
  });
});
