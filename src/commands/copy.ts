/** `holdfast copy`: copies a store to an empty one, from any kind of store to any kind. */
import { isDeepStrictEqual } from "node:util";
import { StartError } from "../errors.ts";
import { readAddress, type StoreAddress, shownAddress } from "../store/address.ts";
import { type Copied, type CopyOptions, copyStore } from "../store/core/copy/copy.ts";
import type { VerifiedContents } from "../store/core/copy/verify.ts";
import { onStoreOf, openSource, openStore, openTarget } from "../store/open.ts";
import { disableWebhooks } from "../webhooks/records.ts";
import { configOf, type Environment, type Flags } from "./options.ts";
import { startProgress } from "./progress.ts";
import { interruptible, shell } from "./shell.ts";
import { withOpen } from "./store.ts";
import { counted, timeSince } from "./words.ts";

/** Copies a store. Throws StartError if it cannot copy, or if the copy differs from its source. */
export async function runCopy(flags: Flags, env: Environment): Promise<void> {
  const to = readAddress(String(flags.to), { cwd: shell().cwd(), as: "--to" });
  const { newIdentity = false, ...others } = flags;
  const from = await sourceOf(others, env);
  if (isDeepStrictEqual(from, to)) throw new StartError("--from and --to are the same store.");
  const start = performance.now();
  await interruptible("interrupted; run the same command again to continue", async (signal) => {
    const copied = await copy(from, to, { signal, newIdentity: newIdentity === true });
    if (newIdentity === true) await disableCopiedWebhooks(to);
    shell().stderr.write(`${described(copied)} copied to ${shownAddress(to)} in ${timeSince(start)}\n`);
    shell().stderr.write(`compared both stores: their content is identical (sha256 ${copied.checksum})\n`);
  });
}

async function sourceOf({ from, ...flags }: Flags, env: Environment): Promise<StoreAddress> {
  if (from === undefined) return (await configOf(flags, env)).store;
  if (flags.store !== undefined)
    throw new StartError("--from and --store both name the store to copy. Give only one of them.");
  return readAddress(String(from), { cwd: shell().cwd(), as: "--from" });
}

type Described = VerifiedContents & Partial<Pick<Copied, "resumedAt">>;

async function copy(
  from: StoreAddress,
  to: StoreAddress,
  options: Pick<CopyOptions, "signal" | "newIdentity">,
): Promise<Copied> {
  const watch = (what: string, total: number) => startProgress({ what, total });
  return withOpen(openSource(from), (source) =>
    withOpen(openTarget(to), (target) => onStoreOf(to, copyStore(source, target, { ...options, watch }))),
  );
}

/** `12 resources with 30 changes, 2 keys and 1 stored response`. */
export function described({ resources, changes, keys, receipts, resumedAt }: Described): string {
  const all = `${counted(resources, "resource")} with ${counted(changes, "change")}, ${counted(keys, "key")} and ${counted(receipts, "stored response")}`;
  return resumedAt === undefined || resumedAt === 0
    ? all
    : `${all} (${resumedAt.toLocaleString("en")} of them by an earlier run)`;
}

const whyDisabled = "The store is a copy. Enable the webhook to send its events to this receiver too.";

/** Another store must not send events to the receivers of its source. */
async function disableCopiedWebhooks(to: StoreAddress): Promise<void> {
  const disabled = await withOpen(openStore(to), (store) => disableWebhooks(store, whyDisabled, Date.now()));
  if (disabled > 0) shell().stderr.write(`disabled ${counted(disabled, "webhook")} of the copy\n`);
}
