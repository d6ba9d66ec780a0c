/** `holdfast restore`: creates a store from a backup. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { StartError } from "../errors.ts";
import { shownAddress } from "../store/address.ts";
import { copyStore } from "../store/core/copy/copy.ts";
import type { VerifiedContents } from "../store/core/copy/verify.ts";
import { onStoreOf, openSource, openStore, openTarget, type StoreAddress } from "../store/open.ts";
import { disableWebhooks } from "../webhooks/records.ts";
import { backUpInto, createFile } from "./backup/new-file.ts";
import { described } from "./copy.ts";
import { configOf, type Environment, type Flags } from "./options.ts";
import { startProgress } from "./progress.ts";
import { interruptible, shell } from "./shell.ts";
import { withOpen } from "./store.ts";
import { counted, timeSince } from "./words.ts";

const whyDisabled = "The store was restored from a backup. Enable the webhook to send events again.";

/** Restores a backup into the configured store. Throws StartError if the store exists. */
export async function runRestore(file: string, flags: Flags, env: Environment): Promise<void> {
  const backup = readBackup(file);
  const { store } = await configOf(flags, env);
  const start = performance.now();
  await interruptible("interrupted; the store was not restored", async (signal) => {
    const restored = await (store.kind === "sqlite"
      ? createFile(store.path, (path) =>
          restoreInto({ kind: "sqlite", path }, backUpInto(backup, path, signal)),
        )
      : restoreInto(store, copy(backup, store, signal)));
    shell().stderr.write(
      `${described(restored)} restored to ${shownAddress(store)} in ${timeSince(start)}\n`,
    );
    shell().stderr.write(
      `compared the store with the backup: their content is identical (sha256 ${restored.checksum})\n`,
    );
  });
}

function readBackup(file: string): StoreAddress {
  const path = resolve(shell().cwd(), file);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return { kind: "sqlite", path };
  throw new StartError(
    `The backup ${path} does not exist. Give the path of a file that "holdfast backup" has made.`,
  );
}

/** The receivers of webhooks already have the events that the restored store would send them again. */
async function restoreInto(
  store: StoreAddress,
  copying: Promise<VerifiedContents>,
): Promise<VerifiedContents> {
  const restored = await copying;
  const disabled = await withOpen(openStore(store), (opened) =>
    disableWebhooks(opened, whyDisabled, Date.now()),
  );
  if (disabled > 0) shell().stderr.write(`disabled ${counted(disabled, "webhook")} of the restored store\n`);
  return restored;
}

async function copy(from: StoreAddress, to: StoreAddress, signal: AbortSignal): Promise<VerifiedContents> {
  const watch = (what: string, total: number) => startProgress({ what, total });
  return withOpen(openSource(from), (source) =>
    withOpen(openTarget(to), (target) => onStoreOf(to, copyStore(source, target, { watch, signal }))),
  );
}
