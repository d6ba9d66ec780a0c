/** Refuses stores of other formats. No release has written a format, so each kind of store has one format, and nothing is upgraded. */
import { StartError } from "../../errors.ts";

/** The last commit that reads the formats before the present ones. For a still older format, its own error names a commit. */
const lastCommit = "5d271879";

/** Throws StartError if a store has another format than this version reads and writes (`own`). */
export function requireFormat(store: string, format: number, own: number): void {
  if (format === own) return;
  if (!Number.isInteger(format) || format < 1)
    throw new StartError(`${store} is damaged (it has no format number). Restore an intact backup.`);
  const advice =
    format > own
      ? "A newer version wrote it. Use that version or a later one."
      : `A version that was never released wrote it. Export its collections with the commit ${lastCommit} of the repository ("npx holdfast export"), and import them into a new store.`;
  throw new StartError(
    `${store} has format ${format}, but this version of Holdfast reads format ${own}. ${advice}`,
  );
}
