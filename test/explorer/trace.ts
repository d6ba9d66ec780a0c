/** Reads the trace of a program: its changes to the files of one folder and its responses, in order. */
import { basename, dirname } from "node:path";
import type { Step } from "./disk.ts";

/** Calls to record, for strace. `-xx` writes each text in hexadecimal, so that the bytes can be read back. */
export const recordedCalls =
  "openat,pwrite64,pwritev,write,writev,sendto,sendmsg,ftruncate,fallocate,fsync,fdatasync,unlink,unlinkat,rename,renameat,renameat2";
export const recordingFlags = ["-xx", "-y", "-s", "4000000"] as const;

/** A step of a file, or the start of a response. `at` gives the order, also of several programs one after the other. */
export type Event = { at: number } & (
  | {
      step: Step;
      /** The program was killed during the call, so it is unknown whether the call took effect. */
      isUnfinished?: true;
    }
  | { answered: string; status: number }
);

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
 * Reads a trace. Only files in `folder` whose name `isData` count. Throws Error for a call that changes such a file in a way that
 * the model of the disk does not know.
 */
export function eventsOf(trace: string, folder: string, isData: (name: string) => boolean): Event[] {
  const events: Event[] = [];
  for (const call of callsOf(trace)) {
    const event = eventOf(call, folder, isData);
    if (event !== undefined) events.push({ at: isFlush(call) ? call.end : call.begin, ...event });
  }
  return events.sort((a, b) => a.at - b.at);
}

const isFlush = ({ name }: Call) => name === "fsync" || name === "fdatasync";

const unfinished = " <unfinished ...>";

function* callsOf(trace: string): Generator<Call> {
  const open = new Map<string, { begin: number; text: string }>();
  for (const [line, content] of trace.split("\n").entries()) {
    const [, thread = "", rest = ""] = /^(\d+) +(.*)$/.exec(content) ?? [];
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

function eventOf(call: Call, folder: string, isData: (name: string) => boolean) {
  const { name, args, result } = call;
  if (result.startsWith("-1")) return undefined;
  if (/^(write|writev|sendto|sendmsg)$/.test(name)) return answerOf(args);
  const path = /^(openat|unlink)$/.test(name) ? textsOf(args)[0]?.toString() : fileOf(args);
  if (path === undefined) return undefined;
  if (isFlush(call) && path === folder) return { step: { kind: "flush names", covers: call.begin } as const };
  if (dirname(path) !== folder || !isData(basename(path))) return undefined;
  const step = stepOf(call, basename(path));
  return step && { step, ...(call.isUnfinished && { isUnfinished: call.isUnfinished }) };
}

function stepOf({ name: call, args, begin, end }: Call, name: string): Step | undefined {
  const numbers = args.split(", ").slice(-2).map(Number);
  switch (call) {
    case "openat":
      return args.includes("O_CREAT") ? { kind: "create", name } : undefined;
    case "unlink":
      return { kind: "remove", name };
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

/** The response that a write begins; `undefined` for any other write. */
function answerOf(args: string): { answered: string; status: number } | undefined {
  if (!args.includes(httpInHex)) return undefined;
  const text = Buffer.concat(textsOf(args)).toString("latin1");
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
  const answered = /^x-request-id: (\S+)/im.exec(text)?.[1];
  return status === undefined || answered === undefined ? undefined : { answered, status: Number(status) };
}

const httpInHex = String.raw`\x48\x54\x54\x50\x2f\x31`;

/** The quoted texts of a call's arguments. */
function textsOf(args: string): Buffer[] {
  return [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, text = ""]) => bytesOf(text));
}

/** The path of the descriptor that is the first argument. */
function fileOf(args: string): string | undefined {
  const path = /^\d+<((?:\\x[0-9a-f]{2})+)>/.exec(args)?.[1];
  return path === undefined ? undefined : bytesOf(path).toString();
}

const bytesOf = (text: string) => Buffer.from(text.replaceAll("\\x", ""), "hex");
