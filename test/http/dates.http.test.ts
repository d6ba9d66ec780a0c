import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { check } from "./check.ts";
import { startServiceForFile } from "./service.ts";

const service = await startServiceForFile({
  collections: {
    events: {
      schema: {
        type: "object",
        properties: {
          day: { type: "string", format: "date" },
          at: { type: "string", format: "date-time" },
          millis: { type: "integer", format: "unix-millis" },
          any: { format: "date-value" },
        },
      },
    },
  },
});

const post = (content: unknown) => service.send({ method: "POST", path: "/api/v1/events", content });

describe("a date", () => {
  const good: [attribute: string, values: unknown[]][] = [
    ["day", ["2024-02-29", "1970-01-01", "0001-01-01", "9999-12-31"]],
    ["at", ["2024-02-29T23:59:59.999Z", "1970-01-01T00:00:00.000Z"]],
    ["millis", [0, -1, 1_700_000_000_000, 8_640_000_000_000_000, -8_640_000_000_000_000]],
    ["any", ["2024-02-29", "2024-02-29T00:00:00.000Z", 1_700_000_000_000]],
  ];
  for (const [attribute, values] of good)
    for (const value of values)
      test(`${attribute} may be ${value}, and comes back as it was sent`, async () => {
        const answer = await post({ [attribute]: value });
        const { id } = answer.json as { id: string };
        check(answer, { status: 201, json: { id, [attribute]: value } });
      });

  const badDays = [
    "2024-02-30",
    "2023-02-29",
    "2024-13-01",
    "2024-00-10",
    "2024-1-1",
    "20240101",
    "2024-01-01 ",
    "",
  ];
  const badTimes = [
    ...[
      "2024-02-30T00:00:00.000Z",
      "2024-01-01T24:00:00.000Z",
      "2024-01-01T00:00:60.000Z",
      "2024-01-01T00:00:00Z",
    ],
    ...[
      "2024-01-01T00:00:00.0Z",
      "2024-01-01T00:00:00.0000Z",
      "2024-01-01t00:00:00.000z",
      "2024-01-01T00:00:00.000",
    ],
    ...["2024-01-01T00:00:00.000+00:00", "2024-01-01 00:00:00.000Z", "2024-01-01T23:60:00.000Z"],
  ];
  const badMillis = [1.5, 8_640_000_000_000_001, -8_640_000_000_000_001, "0", null, true];
  const bad: [attribute: string, values: unknown[]][] = [
    ["day", [...badDays, "2024-01-01T00:00:00.000Z", 0]],
    ["at", [...badTimes, "2024-01-01", 0]],
    ["millis", [...badMillis, "2024-01-01"]],
    ["any", [...badDays, ...badTimes, 1.5, null, true, [], {}, "0"]],
  ];
  for (const [attribute, values] of bad)
    for (const value of values)
      test(`${attribute} may not be ${JSON.stringify(value)}`, async () => {
        const answer = await post({ [attribute]: value });
        check(answer, { status: 400, problem: "VALIDATION_FAILED" });
        const { violations } = answer.json as { violations: { pointer: string }[] };
        for (const { pointer } of violations) assert.equal(pointer, `#/${attribute}`);
      });
});
