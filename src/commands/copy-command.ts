/** `holdfast copy` and `holdfast restore`: create a store from another one, of any kind, or from a backup. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { inStores } from "../capabilities/all.ts";
import { StartError } from "../errors.ts";
import { readAddress, shownAddress } from "../store/address.ts";
import { type Copied, type CopyOptions, copyStore } from "../store/core/copy/copy.ts";
import type { VerifiedContents } from "../store/core/copy/verify.ts";
import { onStoreOf, openSource, openStore, openTarget, type StoreAddress } from "../store/open.ts";
import { withOpen } from "./command-store.ts";
import { configOf, type Environment, type Flags } from "./flags.ts";
import { backUpInto, createFile } from "./new-file.ts";
import { startProgress } from "./progress-display.ts";
import { interruptible, say, shell } from "./shell.ts";
import { counted, timeSince } from "./wording.ts";

/** Copies a store. Throws StartError if it cannot copy, or if the copy differs from its source. */
export async function runCopy(flags: Flags, env: Environment): Promise<void> {
  const to = readAddress(String(flags.to), { cwd: shell().cwd(), as: "--to" });
  const { newIdentity = false, ...others } = flags;
  const from = await sourceOf(others, env);
  if (isDeepStrictEqual(from, to)) throw new StartError("--from and --to are the same store.");
  const start = performance.now();
  await interruptible("interrupted; run the same command again to continue", async (signal) => {
    const copied = await copy(from, to, { signal, newIdentity: newIdentity === true });
    await quieten(to, newIdentity === true ? "copied" : "moved");
    say(`${described(copied)} copied to ${shownAddress(to)} in ${timeSince(start)}`);
    say(`compared both stores: their content is identical (sha256 ${copied.checksum})`);
  });
}

async function sourceOf({ from, ...flags }: Flags, env: Environment): Promise<StoreAddress> {
  if (from === undefined) return (await configOf(flags, env)).store;
  if (flags.store !== undefined)
    throw new StartError("--from and --store both name the store to copy. Give only one of them.");
  return readAddress(String(from), { cwd: shell().cwd(), as: "--from" });
}

/** Restores a backup into the configured store. Throws StartError if the store exists. */
export async function runRestore(file: string, flags: Flags, env: Environment): Promise<void> {
  const backup = readBackup(file);
  const { store } = await configOf(flags, env);
  const start = performance.now();
  await interruptible("interrupted; the store was not restored", async (signal) => {
    const restored = await (store.kind === "sqlite"
      ? createFile(store.path, (path) =>
          quietened({ kind: "sqlite", path }, backUpInto(backup, path, signal)),
        )
      : quietened(store, copy(backup, store, { signal })));
    say(`${described(restored)} restored to ${shownAddress(store)} in ${timeSince(start)}`);
    say(`compared the store with the backup: their content is identical (sha256 ${restored.checksum})`);
  });
}

function readBackup(file: string): StoreAddress {
  const path = resolve(shell().cwd(), file);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return { kind: "sqlite", path };
  throw new StartError(
    `The backup ${path} does not exist. Give the path of a file that "holdfast backup" has made.`,
  );
}

/** The restored store must not do again what the store has done after the backup. */
async function quietened(
  store: StoreAddress,
  restoring: Promise<VerifiedContents>,
): Promise<VerifiedContents> {
  const restored = await restoring;
  await quieten(store, "restored");
  return restored;
}

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

const names = { copied: "copy", moved: "copy", restored: "restored store" };

/** Keeps a store from acting as the one that it was made of. */
async function quieten(store: StoreAddress, made: keyof typeof names): Promise<void> {
  const all = await inStores();
  await withOpen(openStore(store), async (opened) => {
    for (const each of all) {
      for (const done of (await each.quieten?.(opened, { made, at: Date.now() })) ?? [])
        say(`${done.did} ${counted(done.count, done.what)} of the ${names[made]}`);
    }
  });
}

type Described = VerifiedContents & Partial<Pick<Copied, "resumedAt">>;

/** `12 resources with 30 changes, 2 keys and 1 stored response`. */
export function described({ resources, changes, keys, receipts, resumedAt }: Described): string {
  const all = `${counted(resources, "resource")} with ${counted(changes, "change")}, ${counted(keys, "key")} and ${counted(receipts, "stored response")}`;
  return resumedAt === undefined || resumedAt === 0
    ? all
    : `${all} (${resumedAt.toLocaleString("en")} of them by an earlier run)`;
}
