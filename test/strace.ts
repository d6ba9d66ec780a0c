/** Traces and delays system calls of a program with strace. */
import { execFileSync } from "node:child_process";

/** The reason to skip a test; `false` if system calls can be traced. */
export function whyNoTrace(): string | false {
  try {
    execFileSync("strace", ["-o", "/dev/null", "true"], { stdio: "ignore" });
    return false;
  } catch {
    return "needs strace and the right to trace: on Debian apt-get install strace";
  }
}

/** The command that runs a program under strace. The program remains the direct child, so that signals reach it. */
export function tracing(
  calls: string,
  { file = "/dev/null", more = [] }: { file?: string; more?: readonly string[] } = {},
): string[] {
  return ["strace", "-D", "-f", "--seccomp-bpf", "-o", file, "-e", `trace=${calls}`, ...more];
}

/** The command that runs a program with slow flushes of the disk, such as `delay_enter=1500000`. */
export function slowlyFlushing(delay: string): string[] {
  return tracing("fsync,fdatasync", { more: ["-e", `inject=fsync,fdatasync:${delay}`] });
}

/** A system call that has ended: the lines of the trace where it began and ended. */
export interface Call {
  name: string;
  fd: string;
  /** The path of `fd`, if the trace contains it (`-y`). */
  file: string;
  begin: number;
  end: number;
  text: string;
}

/** The calls of a trace that have a file descriptor. Calls of several threads can be interleaved. */
export function parseTrace(trace: string): Call[] {
  const open = new Map<string, { begin: number; text: string }>();
  const calls: Call[] = [];
  for (const [line, content] of trace.split("\n").entries()) {
    const [, thread = "", rest = ""] = /^(\d+) +(.*)$/.exec(content) ?? [];
    if (rest.endsWith("<unfinished ...>")) {
      open.set(thread, { begin: line, text: rest });
      continue;
    }
    const begun = rest.startsWith("<... ") ? open.get(thread) : undefined;
    const text = begun === undefined ? rest : begun.text + rest;
    const [, name, fd, file = ""] = /^(\w+)\((\d+)(?:<([^>]*)>)?/.exec(text) ?? [];
    if (name === undefined || fd === undefined) continue;
    calls.push({ name, fd, file, begin: begun?.begin ?? line, end: line, text });
  }
  return calls;
}

/** Whether a call is a flush of a file that started after `earlier` ended, and ended before `later` started. */
export function isFlushBetween(call: Call, earlier: Call, later: Call): boolean {
  return (
    /^f(data)?sync$/.test(call.name) &&
    call.fd === earlier.fd &&
    call.text.endsWith("= 0") &&
    call.begin > earlier.end &&
    call.end < later.begin
  );
}
