/** The loop that works on tasks, when a step does not end. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { newTask } from "../../src/tasks/task.ts";
import { type TaskStep, Tasks } from "../../src/tasks/task-loop.ts";
import { TaskRecords } from "../../src/tasks/task-records.ts";
import { until } from "../until.ts";
import { onStore } from "./contract/fixture.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

test(
  "a step that never ends does not stop the other tasks, and is tried again",
  onStore(openSqliteFixture, async (store) => {
    const records = new TaskRecords(store);
    await records.prepare();
    for (const id of ["stuck", "other"])
      await records.commit(
        records.begun(newTask({ id, kind: "update", by: null, createdAt: 1 }), { principal: null }),
        Date.now(),
      );
    const begun: Record<string, number> = { stuck: 0, other: 0 };
    let release = () => {};
    const step: TaskStep = ({ value: { id } }) => {
      begun[id] = (begun[id] ?? 0) + 1;
      if (id === "stuck") return new Promise<number>((resolve) => (release = () => resolve(1)));
      return Promise.resolve(1);
    };
    const warnings: string[] = [];
    const tasks = new Tasks({
      records,
      now: Date.now,
      newUuid: () => "holder",
      isReady: () => true,
      isShared: false,
      step,
      warn: (text) => warnings.push(text),
      patienceMs: 10,
    });
    tasks.start();
    await until("both tasks have other steps", () => (begun.stuck ?? 0) > 1 && (begun.other ?? 0) > 1);
    release();
    await tasks.stop();
    assert.equal(
      warnings[0],
      "the task stuck: a step has not ended after 0.01 s. The service tries it again.",
    );
  }),
);
