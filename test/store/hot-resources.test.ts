/** Resources in memory never differ from the file, even if other writes change the file. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { Change } from "../../src/store/commit.ts";
import { HotResources } from "../../src/store/sqlite/read/hot-resources.ts";
import type { Stored } from "../../src/store/stored.ts";

function stored(id: string, version = 1, text = `{"id":"${id}"}`): Stored {
  return { id, version, text, updatedAt: 0 };
}

function changeOf(id: string): readonly Change[] {
  return [{ key: { collection: "topics", id }, expect: 1, next: undefined }];
}

describe("resources kept in memory", () => {
  test("are found again by collection and id", () => {
    const hot = new HotResources();
    hot.keep("topics", stored("a"));
    assert.deepEqual(hot.get("topics", "a"), stored("a"));
    assert.equal(hot.get("others", "a"), undefined);
    assert.equal(hot.get("topics", "b"), undefined);
  });

  test("are forgotten when a change sets out, and not kept before it has ended", () => {
    const hot = new HotResources();
    hot.keep("topics", stored("a"));
    hot.forget(changeOf("a"));
    assert.equal(hot.get("topics", "a"), undefined);
    hot.keep("topics", stored("a"));
    assert.equal(hot.get("topics", "a"), undefined);
    hot.release(changeOf("a"));
    hot.keep("topics", stored("a", 2));
    assert.equal(hot.get("topics", "a")?.version, 2);
  });

  test("stay out until the last of several changes has ended", () => {
    const hot = new HotResources();
    hot.forget(changeOf("a"));
    hot.forget(changeOf("a"));
    hot.release(changeOf("a"));
    hot.keep("topics", stored("a"));
    assert.equal(hot.get("topics", "a"), undefined);
    hot.release(changeOf("a"));
    hot.keep("topics", stored("a"));
    assert.equal(hot.get("topics", "a")?.version, 1);
  });

  test("leave when many others come, unless somebody asks for them now and then", () => {
    const hot = new HotResources();
    hot.keep("topics", stored("wanted"));
    hot.keep("topics", stored("unwanted"));
    for (let n = 0; n < 60_000; n++) {
      hot.keep("topics", stored(`n${n}`));
      if (n % 1_000 === 0) assert.ok(hot.get("topics", "wanted"), `after ${n}`);
    }
    assert.equal(hot.get("topics", "unwanted"), undefined);
    assert.equal(hot.get("topics", "n0"), undefined);
  });

  test("leave when others bring much text", () => {
    const hot = new HotResources();
    hot.keep("topics", stored("early"));
    for (let n = 0; n < 400; n++) hot.keep("topics", stored(`n${n}`, 1, "x".repeat(50_000)));
    assert.equal(hot.get("topics", "early"), undefined);
    hot.keep("topics", stored("huge", 1, "x".repeat(100_000)));
    assert.equal(hot.get("topics", "huge"), undefined);
  });

  test("equal the file after any history", () => {
    const step = fc.record({
      id: fc.constantFrom("a", "b", "c"),
      kind: fc.constantFrom("read", "begin", "end"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const hot = new HotResources();
        const file = new Map([..."abc"].map((id) => [id, 1]));
        const underWay: string[] = [];
        for (const { id, kind } of steps) {
          if (kind === "begin") {
            hot.forget(changeOf(id));
            underWay.push(id);
            file.set(id, (file.get(id) ?? 0) + 1); // the file may show it at once, before it is answered
          } else if (kind === "end") {
            const ended = underWay.shift();
            if (ended !== undefined) hot.release(changeOf(ended));
          } else {
            const version = file.get(id) as number;
            assert.equal(hot.get("topics", id)?.version ?? version, version);
            hot.keep("topics", stored(id, version));
          }
        }
      }),
    );
  });
});
