/** Where a local service without a mail server puts its mails: each one into a file, or into the log. */

import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StoreAddress } from "../../../store/address.ts";
import type { OutgoingMail } from "./smtp.ts";

/** The most mails that a local service keeps. */
export const mostKept = 100;

/** The name of a file with a mail. Other files in the folder stay. */
const fileName = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}-[0-9a-f-]{12}\.txt$/;

/**
 * A folder with the last 100 mails, as files that only the user of the process can read. The mails are beside the file of the store.
 * With PostgreSQL, they are in a folder of their own in the temporary folder of the system until the service stops.
 */
export class MailFolder {
  readonly path: string;
  readonly #isTemporary: boolean;

  constructor(store: StoreAddress) {
    this.#isTemporary = store.kind !== "sqlite";
    // Nobody can guess the name, so nobody else can make the folder first.
    this.path =
      store.kind === "sqlite"
        ? `${store.path}.mail`
        : join(tmpdir(), `holdfast-mail-${randomBytes(12).toString("hex")}`);
  }

  /** Writes a mail, and removes the oldest ones above 100. Returns the path of its file. Throws the errors of the file system. */
  async write({ id, at, to, subject, text }: OutgoingMail): Promise<string> {
    const time = new Date(at).toISOString();
    // A mail has the same name at each attempt.
    const name = `${time.replaceAll(/[:.]/g, "-").slice(0, -1)}-${id.slice(-12)}.txt`;
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    const path = join(this.path, name);
    await writeFile(path, `To: ${to}\nSubject: ${subject}\nDate: ${time}\n\n${text.trim()}\n`, {
      mode: 0o600,
    });
    const names = (await readdir(this.path)).filter((each) => fileName.test(each)).sort();
    for (const oldest of names.slice(0, -mostKept)) await rm(join(this.path, oldest), { force: true });
    return path;
  }

  /** Removes the folder if it is temporary. */
  async close(): Promise<void> {
    if (this.#isTemporary) await rm(this.path, { recursive: true, force: true });
  }
}
