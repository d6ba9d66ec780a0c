/** Shows the progress of long work on standard error: as a bar on a terminal, otherwise as a line every 5 seconds. */
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
}

const lineEveryMs = 5_000;

/** Starts to show progress. Without a terminal, work of less than 5 seconds shows nothing. */
export async function startProgress(work: Work): Promise<Progress> {
  const { total } = work;
  return shell().stderr.isTTY === true && total !== undefined
    ? startBar({ ...work, total })
    : startLines(work);
}

async function startBar({ what, total, inBytes }: Work & { total: number }): Promise<Progress> {
  const { default: cliProgress } = await import("cli-progress");
  const amount = inBytes === true ? "{size}" : "{resources} resources";
  const bar = new cliProgress.SingleBar(
    {
      format: `${what} {bar} {percentage}% | ${amount} | {eta_formatted} left`,
      stream: shell().stderr,
      hideCursor: true,
    },
    cliProgress.Presets.shades_classic,
  );
  bar.start(total, 0, { resources: 0, size: sized(0) });
  return {
    update: (done, resources) => bar.update(done, { resources, size: sized(done) }),
    stop: () => bar.stop(),
  };
}

function startLines({ what, total, inBytes }: Work): Progress {
  let next = performance.now() + lineEveryMs;
  return {
    update(done, resources) {
      if (performance.now() < next) return;
      next += lineEveryMs;
      const amount = inBytes === true ? sized(done) : counted(resources, "resource");
      const share = total === undefined || total === 0 ? "" : ` (${Math.floor((done / total) * 100)}%)`;
      say(`${what}: ${amount}${share}`);
    },
    stop() {},
  };
}
