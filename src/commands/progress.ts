/** Tells on stderr how far long work has come: a bar on a terminal, a plain line now and then elsewhere. */
import { counted } from "./words.ts";

/** Shows progress until it is stopped. */
export interface Progress {
  /** `done` of the total, and how many resources that were. */
  update(done: number, resources: number): void;
  stop(): void;
}

/** What is being done, and how much there is to do (`undefined` when nobody knows). */
export interface Work {
  what: string;
  total: number | undefined;
}

const lineEveryMs = 5_000;

/** Begins to show progress. Work that is done within a moment shows nothing where there is no terminal. */
export async function startProgress(work: Work): Promise<Progress> {
  return process.stderr.isTTY === true && work.total !== undefined
    ? startBar(work.what, work.total)
    : startLines(work);
}

async function startBar(what: string, total: number): Promise<Progress> {
  const { default: cliProgress } = await import("cli-progress");
  const bar = new cliProgress.SingleBar(
    {
      format: `${what} {bar} {percentage}% | {resources} resources | {eta_formatted} left`,
      stream: process.stderr,
      hideCursor: true,
    },
    cliProgress.Presets.shades_classic,
  );
  bar.start(total, 0, { resources: 0 });
  return { update: (done, resources) => bar.update(done, { resources }), stop: () => bar.stop() };
}

function startLines({ what, total }: Work): Progress {
  let next = performance.now() + lineEveryMs;
  return {
    update(done, resources) {
      if (performance.now() < next) return;
      next += lineEveryMs;
      const share = total === undefined || total === 0 ? "" : ` (${Math.floor((done / total) * 100)}%)`;
      process.stderr.write(`${what}: ${counted(resources, "resource")}${share}\n`);
    },
    stop() {},
  };
}
