/** Clients that write by one unique key at once: by the email of a person. The person can also have a number, `visits`. */
import assert from "node:assert/strict";
import type { Answer, Service } from "./service.ts";

let number = 0;
const fresh = () => `race${++number}@x.org`;
const at = (email: string) => `people?email=${encodeURIComponent(email)}`;
const idOf = ({ json }: Answer) => (json as { id: string }).id;
const send = (service: Service, method: string, key: string, content?: unknown) =>
  service.send({ method, path: `/api/v1/${key}`, ...(content !== undefined && { content }) });
const listed = async (service: Service, email: string) =>
  (await send(service, "GET", at(email))).json as Record<string, unknown>[];

/** Clients that PUT by one key make one resource, and each of them a version of it. */
export async function clientsMakeOne(service: Service, clients: number): Promise<void> {
  const email = fresh();
  const answers = await Promise.all(
    Array.from({ length: clients }, (_, n) => send(service, "PUT", at(email), { email, visits: n })),
  );
  assert.deepEqual(Map.groupBy(answers, ({ status }) => status).get(201)?.length, 1);
  for (const answer of answers) assert.ok(answer.status <= 201, answer.text);
  assert.equal(new Set(answers.map(idOf)).size, 1);
  const [only, ...more] = await listed(service, email);
  assert.deepEqual(more, []);
  const versions = answers.map(({ headers }) => Number(headers.etag?.replaceAll('"', "")));
  const last = answers[versions.indexOf(Math.max(...versions))];
  assert.deepEqual(only, last?.json);
  assert.equal(new Set(versions).size, clients, "each of them has its own version");
}

/** Batches that PUT by one key make one resource. */
export async function batchesMakeOne(service: Service, clients: number): Promise<void> {
  const email = fresh();
  const answers = await Promise.all(
    Array.from({ length: clients }, (_, n) =>
      send(service, "POST", "_batch", {
        operations: [{ method: "PUT", path: `/${at(email)}`, body: { email, visits: n } }],
      }),
    ),
  );
  const statuses = answers.flatMap(({ status, json }) =>
    status === 200
      ? (json as { results: { status: number }[] }).results.map((each) => each.status)
      : [status],
  );
  assert.deepEqual(statuses.toSorted(), [...Array.from({ length: clients - 1 }, () => 200), 201]);
  assert.equal((await listed(service, email)).length, 1);
}

/** Clients that create, change, rename and delete one key meet no conflict, and at no time two resources. */
export async function clientsMeetNoConflict(
  service: Service,
  { clients, requests }: { clients: number; requests: number },
): Promise<void> {
  const email = fresh();
  const kinds = [
    () => send(service, "PUT", at(email), { email }),
    () => send(service, "PUT", at(email), { email, visits: 1 }),
    () => send(service, "PATCH", at(email), { email: fresh() }),
    () => send(service, "DELETE", at(email)),
  ];
  const answers = await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const own: Answer[] = [];
      for (let n = 0; n < requests; n++) {
        own.push(await (kinds[(client + n) % 4] as () => Promise<Answer>)());
        const found = await listed(service, email);
        assert.ok(found.length <= 1, JSON.stringify(found));
      }
      return own;
    }),
  );
  for (const { method, status, json } of answers.flat().filter(({ text: body }) => body !== "")) {
    const renamed = json as { id: string; email: string };
    if (method !== "PATCH" || status !== 200) continue;
    const { json: now } = await send(service, "GET", `people/${renamed.id}`);
    assert.deepEqual(now, renamed, "a resource that has the key no longer stays unchanged");
  }
  for (const { method, status, text: body } of answers.flat())
    assert.ok(
      (method === "PUT" ? [200, 201] : [200, 205, 404]).includes(status),
      `${method} ${status} ${body}`,
    );
}
