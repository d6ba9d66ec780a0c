/** What the OpenAPI document describes for wrong requests to consumers and jobs is what the service responds. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Request, startFor } from "../../http/service.ts";

const config = `
export default {
  limits: { body: 2000 },
  collections: { orders: { after: { mail: { run() {} } } } },
  jobs: { digest: { cron: "0 0 29 2 *", run() {} } },
};
`;

const consumers = "/api/v1/_consumers";
const jobs = "/api/v1/_jobs";

/** Each operation, as one that could succeed. */
const operations: readonly { method: string; path: string; content?: object }[] = [
  { method: "GET", path: consumers },
  { method: "GET", path: `${consumers}/orders/mail` },
  { method: "PATCH", path: `${consumers}/orders/mail`, content: { enabled: true } },
  { method: "GET", path: `${consumers}/orders/mail/_deliveries` },
  { method: "POST", path: `${consumers}/orders/mail/_deliveries/1/_retry` },
  { method: "POST", path: `${consumers}/orders/mail/_deliveries/1/_skip` },
  { method: "GET", path: jobs },
  { method: "GET", path: `${jobs}/digest` },
  { method: "POST", path: `${jobs}/digest/_run` },
];

const withContent = operations.filter(({ method }) => method !== "GET");

const wrong: readonly (readonly [
  what: string,
  status: number,
  change: (each: (typeof operations)[number]) => Request,
])[] = [
  ["unknown parameters", 400, (each) => ({ ...each, path: `${each.path}?x:y=1` })],
  ["formats that do not exist", 406, (each) => ({ ...each, headers: { Accept: "image/png" } })],
  ["content that is too large", 413, (each) => ({ ...each, content: { x: "x".repeat(3_000) } })],
  [
    "content of another type",
    415,
    ({ method, path }) => ({ method, path, headers: { "Content-Type": "text/plain" }, body: "x" }),
  ],
];

for (const [what, status, change] of wrong)
  test(`consumers and jobs refuse ${what}`, async (t) => {
    const { send } = await startFor(t, { module: config });
    for (const each of status < 410 ? operations : withContent) {
      const answer = await send(change(each));
      assert.equal(answer.status, status, `${each.method} ${each.path}: ${answer.text}`);
    }
  });
