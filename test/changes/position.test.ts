import assert from "node:assert/strict";
import { test } from "node:test";
import { marksOf, owedAt } from "../../src/changes/consume/event-reader.ts";
import { createPositions } from "../../src/changes/position.ts";
import { toPlace } from "../../src/store/port/log-place.ts";

test("positions, ids of events and the records of consumers have the form that clients and stores keep", () => {
  const positions = createPositions(() => Buffer.alloc(32, 7));
  const position = [
    { collection: "topics", sequence: toPlace(1), check: "0123456789" },
    { collection: "users", sequence: toPlace(1), check: "0000000000" },
  ];
  const text = "4Dj2qnkDFPs3UQxhp1XSPjeYGLnPf-9RK1zqsPox9ZQte-3WDj7pLg";
  assert.equal(positions.format(position), text);
  assert.deepEqual(positions.read(text, ["topics", "users"], false), { kind: "position", position });
  assert.equal(positions.eventId("topics", toPlace(1)), "evrh6_NLAwZ1Xts0dfjXzjQ");
  const marks = marksOf(position);
  assert.equal(JSON.stringify(marks), '{"topics":[1,"0123456789"],"users":[1,"0000000000"]}');
  const owes = owedAt({ collections: ["*"] }, marks, [{ collection: "tags", sequence: toPlace(9) }]);
  assert.equal(JSON.stringify(owes), '{"topics":1,"users":1,"*":0,"tags":8}');
});
