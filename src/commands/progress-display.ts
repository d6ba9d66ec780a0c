/**
 * Shows the progress of long work on standard error: as a bar on a terminal, otherwise as a line every 5 seconds. Work that does not
 * get on for so long, such as the last writes of an import, says that it is still working.
 */
import { say, shell } from "./shell.ts";
import { counted, sized } from "./wording.ts";

/** The display of one piece of work. */
export interface Progress {
  /** `done` of the total, and how many resources that is. */
  update(done: number, resources: number): void;
  stop(): void;
}

/** What the work is, and its total amount if that is known. */
export interface Work {
  what: string;
  total: number | undefined;
  /** Show `done` as a size in bytes, because the number of resources is not known. @default false */
  inBytes?: boolean;
  /** How often it shows something, for tests. @default 5000 */
  everyMs?: number;
}

const usualMs = 5_000;

/** Starts to show progress. Without a terminal, work of less than 5 seconds shows nothing. */
export async function startProgress(work: Work): Promise<Progress> {
  const { total } = work;
  return shell().stderr.isTTY === true && total !== undefined
    ? startBar({ ...work, total })
    : startLines(work);
}

async function startBar({
  what,
  total,
  inBytes,
  everyMs = usualMs,
}: Work & { total: number }): Promise<Progress> {
  const { default: cliProgress } = await import("cli-progress");
  const amount = inBytes === true ? "{size}" : "{resources} resources";
  const bar = new cliProgress.SingleBar(
    {
      format: `${what} {bar} {percentage}% | ${amount} | {eta_formatted} left{note}`,
      stream: shell().stderr,
      hideCursor: true,
    },
    cliProgress.Presets.shades_classic,
  );
  bar.start(total, 0, { resources: 0, size: sized(0), note: "" });
  const quiet = whenQuiet(everyMs, (note) => bar.update({ note: ` | ${note}` }));
  return {
    update: (done, resources) => {
      quiet.end();
      bar.update(done, { resources, size: sized(done), note: "" });
    },
    stop: () => {
      quiet.stop();
      bar.stop();
    },
  };
}

function startLines({ what, total, inBytes, everyMs = usualMs }: Work): Progress {
  let next = performance.now() + everyMs;
  const quiet = whenQuiet(everyMs, (note) => say(`${what}: ${note}`));
  return {
    update(done, resources) {
      if (performance.now() < next) return;
      quiet.end();
      next += everyMs;
      const amount = inBytes === true ? sized(done) : counted(resources, "resource");
      const share = total === undefined || total === 0 ? "" : ` (${Math.floor((done / total) * 100)}%)`;
      say(`${what}: ${amount}${share}`);
    },
    stop: quiet.stop,
  };
}

/** Calls back each time when nothing was shown for a while. `end`: something is shown now. */
function whenQuiet(everyMs: number, show: (note: string) => void): { end(): void; stop(): void } {
  const start = performance.now();
  const timer = setInterval(() => {
    show(`still working, ${Math.round((performance.now() - start) / 1_000)} s so far`);
  }, everyMs);
  timer.unref();
  return { end: () => timer.refresh(), stop: () => clearInterval(timer) };
}
