/** Values that a service makes are compared by their kind, and everything else exactly. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Made } from "./made.ts";

const [shownId, realId, otherId] = ["1", "2", "3"].map((n) => `0190f5a0-7c3e-7b1a-9c54-00000000000${n}`);

test("an id of a page is the id of the service from its first response on, in requests too", () => {
  const made = new Made(false);
  assert.equal(made.inResponse(`{"id":"${shownId}"}`, `{"id":"${realId}"}`), `{"id":"${realId}"}`);
  assert.equal(made.inRequest(`GET /topics/${shownId}`), `GET /topics/${realId}`);
  assert.notEqual(made.inResponse(`{"id":"${shownId}"}`, `{"id":"${otherId}"}`), `{"id":"${otherId}"}`);
});

test("an id that a request has is no id of the service", () => {
  const made = new Made(false);
  made.inRequest(`PUT /topics/${shownId}`);
  assert.equal(made.inResponse(shownId ?? "", realId ?? ""), shownId);
});

test("cursors, positions, events, groups and numbers of requests fit, and other values do not", () => {
  const pairs = [
    ['</a?cursor=AbC>; rel="next"', '</a?cursor=x1_-y>; rel="next"'],
    ["/a/_events?since=PqR", "/a/_events?since=Zz9"],
    ["id: AbC\n", "id: x9\n"],
    ['"id":"eLp0Yv1WlGx9mEkh2a7Tn3Q"', '"id":"eq7Zr4mXw0bHnTs5eVf2uKA"'],
    ['"group":"q0P4nF7xYb2s"', '"group":"zzz"'],
    ['"urn:uuid:…"', `"urn:uuid:${realId}"`],
    ['"default";r=599;t=42', '"default";r=599;t=60'],
  ] as const;
  for (const [shown, real] of pairs) assert.equal(new Made(false).inResponse(shown, real), real);
  for (const [shown, real] of [
    ["/a?cursor=AbC&limit=2", "/a?cursor=AbC&limit=3"],
    ['"id":"one"', '"id":"two"'],
    ['"default";r=599;t=42', '"default";r=598;t=42'],
    ['"at":"2026-01-31T08:30:00.000Z"', '"at":"2026-01-31T08:30:00.001Z"'],
  ] as const)
    assert.notEqual(new Made(false).inResponse(shown, real), real);
});

test("a time fits only where the times are those of the machine, and only in the usual form", () => {
  const [shown, real] = ["2026-01-31T08:30:00.000Z", "2027-02-28T09:31:01.002Z"];
  assert.equal(new Made(true).inResponse(shown, real), real);
  assert.equal(new Made(false).inResponse(shown, real), shown);
  assert.notEqual(new Made(true).inResponse(shown, "2027-02-28"), "2027-02-28");
});
