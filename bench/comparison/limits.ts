/** What nothing can be faster than: constants of the same bytes behind the same HTTP, and durable writes without any. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { node, wrapperOf } from "../harness/commands.ts";
import { median } from "../harness/figure.ts";
import { originOf, startProgram } from "../harness/server.ts";
import { readRequest } from "../load/requests.ts";
import { holdfast } from "../opponents/holdfast.ts";
import { versionOf } from "../opponents/packages.ts";
import type { Cell, SubjectFacts } from "../report/results.ts";
import type { Task } from "./measure.ts";
import type { Subject } from "./subject.ts";

const constants = [
  { name: "fastify-constant", title: "Fastify, a constant", program: "bench/ratios/servers/constant.ts" },
  { name: "node-http", title: "node:http, a constant", program: "bench/opponents/servers/node-http.ts" },
];

const loop = { name: "sqlite-loop", title: "node:sqlite, a loop" };

/** The facts about the limits for the reader. */
export function limitFacts(): SubjectFacts[] {
  const constantNotes = {
    keeps: "nothing",
    checks: "nothing; the bytes and fields of Holdfast's own answer",
    isLimit: true,
  };
  return [
    {
      ...constantNotes,
      name: "fastify-constant",
      title: "Fastify, a constant",
      versions: versionOf("fastify"),
    },
    {
      ...constantNotes,
      name: "node-http",
      title: "node:http, a constant",
      versions: `node ${process.version}`,
    },
    {
      ...loop,
      versions: `node ${process.version} (SQLite ${process.versions.sqlite})`,
      keeps: "each statement is committed and flushed by itself (WAL, synchronous=FULL)",
      checks: "nothing; there is no HTTP, and no other client waits",
      isLimit: true,
    },
  ];
}

/** Starts constants to measure a scenario on: what Holdfast answers to the first request of it. */
export async function startConstants(first: Subject, task: Task, cpu: number): Promise<Subject[]> {
  if (!task.scenario.isConstant) return [];
  const answer = await answerOf(first, task);
  const subjects: Subject[] = [];
  for (const { name, program } of constants) {
    const server = await startProgram([...node, program, JSON.stringify(answer)], { cpu });
    subjects.push({ name, server, says: first.says, opponent: holdfast });
  }
  return subjects;
}

/** How many `startConstants` starts. */
export const constantCount = constants.length;

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

async function answerOf({ says, server }: Subject, { scenario, data }: Task): Promise<Answer> {
  const origin = originOf(server);
  const ids = data.ids.slice(0, 1_000);
  const [text = ""] = await scenario.requests({
    says,
    origin,
    ids,
    doomed: data.ids.slice(-1),
    bytes: data.bytes,
  });
  const { method, path, headers, body } = readRequest(text);
  const { Host: _, "Content-Length": __, ...fields } = headers;
  const plain = { ...fields, "Accept-Encoding": "identity" }; // as the load, which accepts no coding either
  const answer = await fetch(origin + path, { method, headers: plain, ...(body === "" ? {} : { body }) });
  const kept = [...answer.headers].filter(
    ([name]) => !/^(date|connection|keep-alive|content-length)$/.test(name),
  );
  return { status: answer.status, headers: Object.fromEntries(kept), body: await answer.text() };
}

type Loop = Record<"create" | "replace" | "delete", { perSecond: number; p50: number; p99: number }>;

/** Measures bare writes. */
export function measureLoop(folder: string, { rounds, durationMs, bytes, cpu }: LoopPlan): Cell[] {
  mkdirSync(`${folder}/loop`, { recursive: true });
  const argument = JSON.stringify({ folder: `${folder}/loop`, durationMs, bytes });
  const [command = "", ...args] = [
    ...wrapperOf({ cpu }),
    ...node,
    "bench/opponents/servers/sqlite-loop.ts",
    argument,
  ];
  const said = Array.from(
    { length: rounds },
    () => JSON.parse(execFileSync(command, args, { encoding: "utf8" })) as Loop,
  );
  return (["create", "replace", "delete"] as const).map((scenario) => ({
    scenario,
    bytes,
    connections: 1,
    subject: loop.name,
    perSecond: median(said.map((each) => each[scenario].perSecond)),
    p50: median(said.map((each) => each[scenario].p50)),
    p99: median(said.map((each) => each[scenario].p99)),
  }));
}

interface LoopPlan {
  rounds: number;
  durationMs: number;
  bytes: number;
  cpu: number;
}
