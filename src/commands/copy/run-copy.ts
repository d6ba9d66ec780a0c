import { isDeepStrictEqual } from "node:util";
import { StartError } from "../../errors.ts";
import { readAddress, type StoreAddress, shownAddress } from "../../store/address.ts";
import { type Copied, copyStore } from "../../store/copy/copy.ts";
import { onStoreOf, openSource, openTarget } from "../../store/open.ts";
import { configOf, type Environment } from "../options.ts";
import { startProgress } from "../progress.ts";
import { counted } from "../words.ts";

/** The exit code of what was interrupted, as shells expect it: 128 and the number of SIGINT. */
const interruptedExitCode = 130;

class Interrupted extends Error {}

/** Copies a store. Throws StartError when that cannot be done, or what was copied is not like its source. */
export async function runCopy(flags: Record<string, unknown>, env: Environment): Promise<void> {
  const to = readAddress(String(flags.to), { cwd: process.cwd(), as: "--to" });
  const from = await sourceOf(flags, env);
  if (isDeepStrictEqual(from, to)) throw new StartError("--from and --to are the same store.");
  const begin = performance.now();
  try {
    const copied = await copy(from, to, interruptOnSignals());
    const seconds = ((performance.now() - begin) / 1_000).toFixed(1);
    process.stderr.write(`${described(copied)} copied to ${shownAddress(to)} in ${seconds} s\n`);
    process.stderr.write(`compared both stores: their content is identical (sha256 ${copied.checksum})\n`);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    process.stderr.write("holdfast: interrupted; run the same command again to continue\n");
    process.exitCode = interruptedExitCode;
  }
}

async function sourceOf(
  { from, ...flags }: Record<string, unknown>,
  env: Environment,
): Promise<StoreAddress> {
  if (from === undefined) return (await configOf(flags, env)).store;
  if (flags.store !== undefined)
    throw new StartError("--from and --store both name the store to copy. Give only one of them.");
  return readAddress(String(from), { cwd: process.cwd(), as: "--from" });
}

async function copy(from: StoreAddress, to: StoreAddress, signal: AbortSignal): Promise<Copied> {
  const source = await openSource(from);
  try {
    const target = await openTarget(to);
    try {
      const watch = (what: string, total: number) => startProgress({ what, total });
      return await onStoreOf(to, copyStore(source, target, { watch, signal }));
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function interruptOnSignals(): AbortSignal {
  const controller = new AbortController();
  const interrupt = () => controller.abort(new Interrupted());
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt); // a second one kills
  return controller.signal;
}

/** `12 resources with 30 changes, 2 keys and 1 stored response`. */
function described({ resources, changes, keys, receipts, resumedAt }: Copied): string {
  const all = `${counted(resources, "resource")} with ${counted(changes, "change")}, ${counted(keys, "key")} and ${counted(receipts, "stored response")}`;
  return resumedAt === 0 ? all : `${all} (${resumedAt.toLocaleString("en")} of them by an earlier run)`;
}
