/**
 * Pairs of switches, each of which a caller can turn on only while the other one is off. If two writes were judged before either of them
 * is committed, both switches of a pair could be on.
 */
import assert from "node:assert/strict";

/** The declared collections. Nobody needs a credential. */
export const switches = {
  switches: {
    schema: { properties: { on: { type: "boolean" }, otherId: { type: "string" } } },
    references: { otherId: "switches" },
    access: {
      read: "public",
      create: "public",
      update: [{ where: { "other.on": false } }, { where: { "other.on": { exists: false } } }],
    },
  },
} as const;

/** Sends a request with JSON. */
export type Send = (
  method: string,
  path: string,
  content?: object,
) => Promise<{ status: number; text: string }>;

const path = "/api/v1/switches";

/** Makes pairs, turns on both switches of each at the same time, one with each sender, and checks that one of them stays off. */
export async function requireNoSkew(senders: readonly [Send, Send], pairs: number): Promise<void> {
  const [first] = senders;
  const make = async (content: object) => {
    const { status, text } = await first("POST", path, content);
    assert.equal(status, 201, text);
    return (JSON.parse(text) as { id: string }).id;
  };
  let won = 0;
  for (let n = 0; n < pairs; n++) {
    const one = await make({ on: false });
    const other = await make({ on: false, otherId: one });
    const third = await make({ on: false, otherId: other });
    const joined = await first("PATCH", `${path}/${other}`, { otherId: third });
    assert.equal(joined.status, 200, joined.text);
    const ids = [other, third];
    const answers = await Promise.all(
      ids.map((id, m) => senders[m as 0 | 1]("PATCH", `${path}/${id}`, { on: true })),
    );
    for (const { status, text } of answers) assert.ok([200, 401].includes(status), text);
    const states = await Promise.all(ids.map((id) => first("GET", `${path}/${id}`)));
    const on = states.filter(({ text }) => (JSON.parse(text) as { on: boolean }).on).length;
    assert.equal(on, answers.filter(({ status }) => status === 200).length);
    assert.ok(on <= 1, `pair ${n}: both are on`);
    won += on;
  }
  assert.ok(won > 0, "no switch was ever turned on");
}
