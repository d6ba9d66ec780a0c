/** The loop that works on tasks, when a step does not end, and how many tasks can begin. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { maxActiveTasks, maxOwnTasks, newTask } from "../../src/tasks/task.ts";
import { type TaskStep, Tasks } from "../../src/tasks/task-loop.ts";
import { TaskRecords } from "../../src/tasks/task-records.ts";
import { machineTime, until } from "../until.ts";
import { onStore } from "./contract/fixture.ts";
import { openSqliteFixture } from "./sqlite-fixture.ts";

test(
  "a step that never ends does not stop the other tasks, and is tried again",
  onStore(openSqliteFixture, async (store) => {
    const records = new TaskRecords(store);
    await records.prepare();
    for (const id of ["stuck", "other"])
      await records.commit(
        await records.begun(newTask({ id, kind: "update", by: null, createdAt: 1 }), { principal: null }),
        machineTime(),
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
      store,
      now: machineTime,
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

test(
  "an instance whose clock is wrong takes a task when the clock of the store says that its lease is over, and not before",
  onStore(openSqliteFixture, async (store) => {
    const records = new TaskRecords(store);
    await records.prepare();
    const hourMs = 3_600_000;
    const time = machineTime();
    // The machine is right, and the store an hour ahead or behind. So an instance has a wrong clock.
    for (const [name, storeTime, left, isTaken] of [
      ["behind", time + hourMs, -1, true],
      ["ahead", time - hourMs, 60_000, false],
    ] as const) {
      const task = { ...newTask({ id: name, kind: "update", by: null, createdAt: 1 }), holder: "other" };
      const leased = { ...task, until: storeTime + left };
      await records.commit(await records.begun(leased, { principal: null }), time);
      const taken: string[] = [];
      const looks = { count: 0 };
      const tasks = new Tasks({
        records,
        store: {
          time: async () => {
            looks.count++;
            return storeTime + (machineTime() - time);
          },
        },
        now: machineTime,
        newUuid: () => "holder",
        isReady: () => true,
        isShared: true,
        step: async ({ value: { id } }, { until: end }) => {
          taken.push(id);
          assert.ok(Math.abs(end - storeTime) < hourMs / 2, "the lease is in the time of the store");
          return 1;
        },
        warn: () => {},
      });
      tasks.start();
      await until("it has looked", () => looks.count > 1 || taken.includes(name));
      await tasks.stop();
      assert.equal(taken.includes(name), isTaken, name);
      const found = await records.task(name);
      await records.commit([records.moved(found as NonNullable<typeof found>, { active: "no" })], time);
    }
  }),
);

test(
  "of many tasks that begin at once, as many begin as can wait or work, and of one caller fewer",
  onStore(openSqliteFixture, async (store) => {
    const records = new TaskRecords(store);
    await records.prepare();
    const begin = (n: number, by: string | null) =>
      records.untilCommitted(
        async () => ({
          changes: await records.begun(newTask({ id: `${by}${n}`, kind: "update", by, createdAt: 1 }), {
            principal: null,
          }),
          result: undefined,
        }),
        machineTime,
      );
    /** How many begin, and why the others do not. Few at once, because only one of those that begin together can succeed at a time. */
    const beginAll = async (count: number, by: string | null) => {
      const reasons = new Set<string>();
      let begun = 0;
      for (let from = 0; from < count; from += 3) {
        const all = await Promise.allSettled([0, 1, 2].map((n) => begin(from + n, by)));
        for (const each of all)
          if (each.status === "fulfilled") begun++;
          else reasons.add((each.reason as Error).message);
      }
      return [begun, ...reasons];
    };
    assert.deepEqual(await beginAll(40, "ada"), [
      maxOwnTasks,
      "20 of your tasks wait or work already. Wait until one has ended, or cancel one.",
    ]);
    assert.deepEqual(await beginAll(120, null), [
      maxActiveTasks - maxOwnTasks,
      "100 tasks wait or work already. Try again later.",
    ]);
  }),
);

test(
  "an import whose request was interrupted fails after an hour, and its plan is removed",
  onStore(openSqliteFixture, async (store) => {
    const records = new TaskRecords(store);
    await records.prepare();
    const task = newTask({ id: "a", kind: "import", by: null, createdAt: 0, active: "no", parts: 1 });
    const part = records.planned("a", 0, { collection: "things", items: [{ id: "1", text: "{}" }] });
    await records.commit([...(await records.begun(task, { principal: null })), part], 0);
    const hourMs = 3_600_000;
    await records.sweep(hourMs - 1);
    assert.equal((await records.task("a"))?.value.state, "checking");
    await records.sweep(hourMs);
    const failed = await records.task("a");
    assert.deepEqual([failed?.value.state, failed?.value.reason], ["failed", "The request was interrupted."]);
    const [active] = await records.active();
    assert.equal(active?.value.id, "a");
    await records.clean(active as NonNullable<typeof active>, hourMs);
    assert.equal(await records.part("a", 0), undefined);
    assert.deepEqual(await records.active(), []);
  }),
);
