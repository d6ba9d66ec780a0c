/**
 * A process that runs files of tests, one after the other: those that the runner sends it. It sends the runner what happens. A file ends
 * when its tests have ended and nothing keeps the process alive. So no file runs beside what an earlier one has left.
 */
import "./properties.ts";
import { once } from "node:events";
import { run } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { ceilingMs } from "../until.ts";
import { endFile, endProcess } from "./ends.ts";
import { type Line, lineOf } from "./lines.ts";
import { endOfOutput, type SentEvent, sendable } from "./sent-event.ts";
import { faultOfName } from "./started.ts";
import { type FileTimes, timesOf } from "./times.ts";

/** What the process sends. `line` is about the file that the runner sent last. After the last file, it ends. */
export type Message =
  | { kind: "event"; event: SentEvent; line: Line | undefined }
  | { kind: "line"; line: Line }
  | { kind: "ended"; times: FileTimes; isLast: boolean }; // `endOfOutput` is on both streams too

/** The time limit of one test, in milliseconds. */
const limit = process.execArgv.findLast((each) => each.startsWith("--test-timeout="))?.split("=")[1];

/** If a file does not end for so long after its last test, it has left something open. In milliseconds. */
const longestEndMs = Math.min(Number(limit), ceilingMs);

const lookMs = 1_000;

/** How the streams of output are written. A test can replace the methods. */
const writes = [process.stdout, process.stderr].map((stream) => stream.write.bind(stream));

const before = process.getActiveResourcesInfo();
for (let file = await nextFile(); file !== undefined; file = await nextFile()) await runFile(file);
await endProcess();
process.disconnect?.();

/** The file that the runner sends, if there is one more. Meanwhile, the channel keeps the process alive. */
async function nextFile(): Promise<string | undefined> {
  process.channel?.ref();
  const [{ file }] = (await once(process, "message")) as [{ file: string | undefined }];
  process.channel?.unref();
  return file;
}

async function runFile(file: string): Promise<void> {
  await turn(); // Node looks only after a turn of the event loop whether something keeps the process alive
  let open = 0;
  let last: number | undefined;
  const look = setInterval(() => {
    if (open > 0 || last === undefined || performance.now() - last < longestEndMs) return;
    clearInterval(look);
    void giveUp(file);
  }, lookMs).unref();
  for await (const event of run({ files: [file], isolation: "none" })) {
    if (event.type === "test:enqueue" && event.data.nesting === 0) open++;
    if (event.type === "test:complete" && event.data.nesting === 0) open--;
    if (event.type === "test:complete") last = performance.now();
    send({ kind: "event", event: sendable(event), line: lineOf(event, file) });
  }
  clearInterval(look);
  if (process.exitCode !== undefined) fail(file, `It sets the exit code ${process.exitCode}.`);
  process.exitCode = undefined;
  const fault = faultOfName(file);
  if (fault !== undefined) fail(file, fault);
  await endFile().catch((error: Error) => fail(file, error.message));
  endOutput();
  send({ kind: "ended", times: timesOf(file), isLast: false });
}

/** The file has left something open. Another process runs the files after it. */
async function giveUp(file: string): Promise<void> {
  const left = process.getActiveResourcesInfo();
  for (const each of before) if (left.includes(each)) left.splice(left.indexOf(each), 1);
  fail(file, `It leaves open: ${[...new Set(left)].join(", ")}.`);
  await endProcess();
  endOutput();
  const message: Message = { kind: "ended", times: timesOf(file), isLast: true };
  process.send?.(message, undefined, undefined, () => process.exit());
}

function fail(file: string, error: string): void {
  send({ kind: "line", line: { kind: "failed", file, line: 0, name: file, error } });
}

function endOutput(): void {
  for (const write of writes) write(endOfOutput);
}

function send(message: Message): void {
  process.send?.(message);
}
