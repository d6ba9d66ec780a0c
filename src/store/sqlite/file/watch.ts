/**
 * Watches that the files on the disk are still those that are open. A write to a file that was removed would be
 * lost, and without its lock a second service could write to the store.
 */
import { statSync } from "node:fs";
import { stat } from "node:fs/promises";

const intervalMs = 2_000;

/** Looks at the store's file, its log and its lock every two seconds, and gives a function that stops it. */
export function watchFiles(
  path: string,
  { onGone, onTick }: { onGone(reason: string): void; onTick(): void },
): () => void {
  // Only ever `stat`: to open and close these files here would drop SQLite's locks on them.
  const files = [path, `${path}-wal`, `${path}.lock`].map((file) => ({
    file,
    inode: inodeAt(file),
  }));
  const look = async () => {
    for (const { file, inode } of files) {
      const found = await stat(file).then(inodeOf, () => undefined);
      if (found === inode) continue;
      onGone(describeGone(file, found));
      return;
    }
    onTick();
  };
  const timer = setInterval(() => void look(), intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * Gives a function that says when the store's file or its log is no longer the one that is open. It is called after each
 * group of commits, before they are acknowledged: two calls of `stat` take 2 µs, a group takes hundreds.
 */
export function createGoneCheck(path: string): () => string | undefined {
  const known = new Map([[path, inodeAt(path)]]);
  return () => {
    for (const file of [path, `${path}-wal`]) {
      const inode = inodeAt(file);
      if (!known.has(file)) known.set(file, inode);
      else if (known.get(file) !== inode) return describeGone(file, inode);
    }
    return undefined;
  };
}

function describeGone(file: string, inode: string | undefined): string {
  return `${file} was ${inode === undefined ? "removed" : "replaced"} while it was in use`;
}

/** Which file there is at a path now; `undefined` where there is none. */
export function inodeAt(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : inodeOf(found);
}

function inodeOf({ dev, ino }: { dev: number; ino: number }): string {
  return `${dev}:${ino}`;
}
