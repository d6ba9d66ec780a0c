/** Runs the commands of the bench, with wrappers such as `taskset`. */
import { execFileSync } from "node:child_process";

/** Node, as this program itself is run, before the path of a program. */
export const node: readonly string[] = [process.execPath, "--conditions=holdfast-source"];

/** How a program under measurement is run. */
export interface RunOptions {
  /** The only processor that the command can use, if `taskset` is installed. */
  cpu?: number;
  /** Microseconds that each flush (fsync, fdatasync) is held up, with strace. */
  flushDelayUs?: number;
}

/** What stands before a command that is run so. */
export function wrapperOf({ cpu, flushDelayUs }: RunOptions): string[] {
  return [
    ...(flushDelayUs === undefined ? [] : slowFlushes(flushDelayUs)),
    ...(cpu === undefined || !has("taskset") ? [] : ["taskset", "-c", String(cpu)]),
  ];
}

function slowFlushes(delayUs: number): string[] {
  const only = ["-e", "trace=fsync,fdatasync", "-e", `inject=fsync,fdatasync:delay_enter=${delayUs}`];
  return ["strace", "-D", "-f", "--seccomp-bpf", "-o", "/dev/null", ...only];
}

const known = new Map<string, boolean>();

/** Whether a command is installed. */
export function has(command: string): boolean {
  let isThere = known.get(command);
  if (isThere === undefined) {
    isThere = succeeds(["sh", "-c", `command -v ${command}`]);
    known.set(command, isThere);
  }
  return isThere;
}

function succeeds([command = "", ...args]: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
