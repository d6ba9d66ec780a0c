/** Reads the traces of programs: their changes to the files of one folder and their messages, in order. */
import { relative, resolve } from "node:path";
import type { Step } from "./disk.ts";

/** Calls to record, for strace. `-xx` writes each text in hexadecimal, so that the bytes can be read back. */
export const recordedCalls =
  "openat,pwrite64,pwritev,write,writev,sendto,sendmsg,ftruncate,fallocate,fsync,fdatasync,unlink,unlinkat,link,linkat,rename,renameat,renameat2";
export const recordingFlags = ["-ttt", "-xx", "-y", "-s", "4000000"] as const;

/** A step of a file, or a message. `at` gives the order, also of several programs. */
export type Event = { at: number } & (
  | {
      step: Step;
      /** The program was killed during the call, so it is unknown whether the call took effect. */
      isUnfinished?: true;
    }
  /** The start of a response. */
  | { answered: string; status: number }
  /** The start of a request to the receiver of a webhook. */
  | { delivered: string }
  /** The start or the successful end of a command. */
  | { command: string; is: "started" | "ended" }
);

/** Where the files are, and which of them count. */
export interface Place {
  folder: string;
  /** Whether a file counts, by its path in the folder. */
  isData(name: string): boolean;
}

/** A system call, from the line where it began to the line where it ended. */
interface Call {
  name: string;
  args: string;
  result: string;
  begin: number;
  end: number;
  isUnfinished?: true;
}

/**
 * Reads traces of programs that ran at the same time. Throws Error for a call that changes a file in a way that the model of the
 * disk does not know. `commands`: the names of those programs that are commands, by their process.
 */
export function eventsOf(
  traces: readonly string[],
  place: Place,
  commands: ReadonlyMap<string, string> = new Map(),
): Event[] {
  const lines = linesOf(traces);
  const events: Event[] = [];
  for (const call of callsOf(lines)) {
    const event = eventOf(call, place);
    if (event !== undefined) events.push({ at: isFlush(call) ? call.end : call.begin, ...event });
  }
  for (const [id, command] of commands) {
    const start = lines.findIndex(({ thread }) => thread === id);
    const end = lines.findIndex(({ thread, rest }) => thread === id && rest === "+++ exited with 0 +++");
    if (start >= 0) events.push({ at: start, command, is: "started" });
    if (end >= 0) events.push({ at: end, command, is: "ended" });
  }
  return events.sort((a, b) => a.at - b.at);
}

interface Line {
  thread: string;
  time: number;
  rest: string;
}

/** The lines of all traces, in the order of time. Those of one trace keep their order. */
function linesOf(traces: readonly string[]): Line[] {
  const lines = traces.flatMap((trace) =>
    trace.split("\n").flatMap((line): Line[] => {
      const [, thread = "", time, rest = ""] = /^(\d+) +(\d+\.\d+) (.*)$/.exec(line) ?? [];
      return time === undefined ? [] : [{ thread, time: Number(time), rest }];
    }),
  );
  return traces.length === 1 ? lines : lines.sort((a, b) => a.time - b.time);
}

/** The trace lacks something. strace can lose the last call of a thread that is killed. */
export class IncompleteRecording extends Error {}

const isFlush = ({ name }: Call) => name === "fsync" || name === "fdatasync";

const unfinished = " <unfinished ...>";

function* callsOf(lines: readonly Line[]): Generator<Call> {
  const open = new Map<string, { begin: number; text: string }>();
  for (const [line, { thread, rest }] of lines.entries()) {
    if (rest.endsWith(unfinished)) {
      open.set(thread, { begin: line, text: rest.slice(0, -unfinished.length) });
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1];
    const first = resumed === undefined ? undefined : open.get(thread);
    if (resumed !== undefined) open.delete(thread);
    const text = first === undefined ? rest : `${first.text}${resumed}`;
    const [, name, args = "", result = ""] = /^(\w+)\((.*)\) += (.*)$/.exec(text) ?? [];
    const call = { args, result, begin: first?.begin ?? line, end: line };
    if (name !== undefined)
      yield* result.startsWith("?") ? interrupted({ ...call, name }) : [{ ...call, name }];
  }
  for (const { begin, text } of open.values()) {
    const [, name, args = ""] = /^(\w+)\((.*)$/.exec(text) ?? [];
    if (name !== undefined) yield* interrupted({ name, args, result: "?", begin, end: begin });
  }
}

/** A write during which the program was killed may have happened. An interrupted flush guarantees nothing. */
function interrupted(call: Call): Call[] {
  return isFlush(call) ? [] : [{ ...call, isUnfinished: true }];
}

function eventOf(call: Call, { folder, isData }: Place) {
  const { name, args, result } = call;
  if (result.startsWith("-1")) return undefined;
  if (/^(write|writev|sendto|sendmsg)$/.test(name)) return messageOf(args);
  const isNamed = /^(openat|link|rename|unlink)/.test(name);
  const [path, to] = isNamed ? pathsOf(args) : [fileOf(args)];
  if (path === undefined) {
    if (isFlush(call)) throw new IncompleteRecording("The trace does not say which file was flushed.");
    return undefined;
  }
  const inside = relative(folder, path) || ".";
  if (inside.startsWith("..")) return undefined;
  if (!isData(inside))
    return isFlush(call)
      ? { step: { kind: "flush names", folder: inside, covers: call.begin } as const }
      : undefined;
  const step = stepOf(call, inside, to && relative(folder, to));
  return step && { step, ...(call.isUnfinished && { isUnfinished: call.isUnfinished }) };
}

function stepOf(
  { name: call, args, begin, end }: Call,
  name: string,
  to: string | undefined,
): Step | undefined {
  const numbers = args.split(", ").slice(-2).map(Number);
  switch (call) {
    case "openat":
      return args.includes("O_CREAT") ? { kind: "create", name } : undefined;
    case "unlink":
    case "unlinkat":
      return { kind: "remove", name };
    case "link":
    case "linkat":
      return { kind: "link", name, to: to ?? "" };
    case "pwrite64":
      return {
        kind: "write",
        name,
        offset: numbers[1] ?? 0,
        bytes: textsOf(args)[0] ?? Buffer.alloc(0),
        end,
      };
    case "ftruncate":
      return { kind: "truncate", name, length: numbers[1] ?? 0, end };
    case "fsync":
    case "fdatasync":
      return { kind: "flush", name, covers: begin };
    default:
      throw new Error(`the model of the disk does not know ${call}, which was called for ${name}`);
  }
}

/** The response or the delivery that a write begins; `undefined` for any other write. */
function messageOf(args: string): { answered: string; status: number } | { delivered: string } | undefined {
  if (!args.includes(httpInHex)) return undefined;
  const text = Buffer.concat(textsOf(args)).toString("latin1");
  const delivered = /^POST .*?^webhook-id: (\S+)/ims.exec(text)?.[1];
  if (delivered !== undefined) return { delivered };
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
  const answered = /^x-request-id: (\S+)/im.exec(text)?.[1];
  return status === undefined || answered === undefined ? undefined : { answered, status: Number(status) };
}

const httpInHex = String.raw`\x48\x54\x54\x50\x2f\x31`;

/** The quoted texts of a call's arguments. */
function textsOf(args: string): Buffer[] {
  return [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, text = ""]) => bytesOf(text));
}

/** The paths that are arguments. A relative one starts in the folder of the descriptor before it. */
function pathsOf(args: string): string[] {
  const paths = args.matchAll(/(?:<((?:\\x[0-9a-f]{2})+)>, )?"((?:\\x[0-9a-f]{2})+)"/g);
  return [...paths].map(([, folder = "", path = ""]) =>
    resolve(String(bytesOf(folder)), String(bytesOf(path))),
  );
}

/** The path of the descriptor that is the first argument. */
function fileOf(args: string): string | undefined {
  const path = /^\d+<((?:\\x[0-9a-f]{2})+)>/.exec(args)?.[1];
  return path === undefined ? undefined : bytesOf(path).toString();
}

const bytesOf = (text: string) => Buffer.from(text.replaceAll("\\x", ""), "hex");
