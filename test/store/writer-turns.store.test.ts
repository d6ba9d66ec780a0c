/** The order in which the writer of SQLite performs the requests of several threads. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { openStore } from "../../src/store/open.ts";
import {
  type Cell,
  type CommitResults,
  encodeCommit,
  type SentRequest,
  type WriterMessage,
  type WriterRequest,
  type WriterSettings,
} from "../../src/store/sqlite/commit/protocol.ts";
import { RequestLoop } from "../../src/store/sqlite/writer/request-loop.ts";
import { makeFolder } from "../folder.ts";
import { until } from "../until.ts";
import { created, declaration, topic } from "./contract/fixture.ts";

/** A writer with several threads. What they send arrives before the writer does anything. */
async function startWriter(t: TestContext, threads: number) {
  const path = join(makeFolder(), "store.db");
  const store = await openStore({ kind: "sqlite", path });
  await store.migrate([declaration("topics")]);
  await store.close();
  /** The sequence of each commit by its name, or what else it was answered with. */
  const answered = new Map<string, unknown>();
  const ports: MessagePort[] = [];
  const names = new Map<number, string>();
  const send = (thread: number, name: string, request: WriterRequest, transfer: MessagePort[] = []) => {
    const number = names.size;
    names.set(number, name);
    (ports[thread] as MessagePort).postMessage({ number, request } satisfies SentRequest, transfer);
  };
  const settings: WriterSettings = { path, synchronous: "NORMAL", groupCommit: true, history: "none" };
  for (let n = 0; n < threads; n++) {
    const { port1, port2 } = new MessageChannel();
    ports.push(port2);
    port2.on("message", (message: WriterMessage) => {
      if (message.kind !== "answers") return;
      for (const [number, answer] of message.answers) {
        const { sequences = ["done"] } = (
          "result" in answer ? (answer.result ?? {}) : {}
        ) as Partial<CommitResults>;
        answered.set(names.get(number) as string, "result" in answer ? sequences[0] : answer);
      }
    });
    if (n === 0) new RequestLoop(port1, settings);
    else send(0, `connect ${n}`, { name: "connect", args: [port1] }, [port1]);
  }
  t.after(() => {
    for (const port of ports) port.close();
  });
  const untilAnswered = () => until("all are answered", () => answered.size === names.size);
  await untilAnswered();
  return {
    untilAnswered,
    answerTo: (name: string) => answered.get(name),
    /** Sends a commit that creates one resource. */
    commit(thread: number, name: string) {
      const cells: Cell[] = [];
      encodeCommit(cells, { changes: [created(topic(name))], at: 1 }, () => 1);
      send(thread, name, { name: name.startsWith("large") ? "commitLarge" : "commit", args: [1, cells] });
    },
    hold: (thread: number) => send(thread, "hold", { name: "hold", args: [] }),
  };
}

test("the small commits that have arrived are written before a large one, and large ones one by one", async (t) => {
  const { commit, untilAnswered, answerTo } = await startWriter(t, 2);
  commit(0, "large 1");
  commit(1, "large 2");
  commit(0, "small 1");
  commit(1, "small 2");
  await untilAnswered();
  assert.deepEqual([answerTo("large 1"), answerTo("large 2")], [3, 4]);
});

test("small commits that never end do not keep a large one from its turn", async (t) => {
  const { commit, untilAnswered, answerTo } = await startWriter(t, 2);
  commit(0, "large");
  for (let n = 0; n < 2_500; n++) commit(1, `small ${n}`); // a transaction has at most 1,000 commits
  await untilAnswered();
  assert.equal(answerTo("large"), 1_001);
});

test("a large commit that was put aside waits while another thread holds the writer", async (t) => {
  const { commit, hold, untilAnswered, answerTo } = await startWriter(t, 3);
  commit(0, "large 1");
  commit(1, "large 2");
  hold(2);
  await untilAnswered();
  assert.deepEqual([answerTo("large 1"), answerTo("hold")], [1, "done"]);
  assert.deepEqual(answerTo("large 2"), { isHeld: true });
});
