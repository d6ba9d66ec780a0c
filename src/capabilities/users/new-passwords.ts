/** New passwords: whether others can guess them, and their hashes. */
import { Problem } from "../../errors.ts";
import type { UserParts, Visitor } from "./flows.ts";
import { isBreached, normalizedPassword, refusedPassword } from "./password-rules.ts";
import type { Account } from "./user-records.ts";

type Profile = Readonly<Record<string, unknown>>;

/** The new passwords of the users of one service. */
export class NewPasswords {
  readonly #parts: UserParts;
  #hasWarned = false;

  constructor(parts: UserParts) {
    this.#parts = parts;
  }

  /** The hash of a new password of an account. Throws PASSWORD_REFUSED, QUOTA_EXCEEDED and UNAVAILABLE. */
  async hashFor({ id, email }: Account, password: string, visitor: Visitor): Promise<string> {
    this.requireGood(password, email, await this.profileOf(id));
    return this.hash(password, visitor);
  }

  /** The profile with an id; empty if it does not exist. */
  async profileOf(id: string): Promise<Profile> {
    const { records, settings } = this.#parts;
    return (await records.read<Profile>(settings.collection, id))?.value ?? {};
  }

  /** Throws PASSWORD_REFUSED if others can guess the password. */
  requireGood(password: string, address: string, profile: Profile): void {
    const { settings, title } = this.#parts;
    const texts = Object.values(profile).filter((value) => typeof value === "string");
    const fault = refusedPassword(password, { title, address, texts, words: settings.password.words });
    if (fault !== undefined) throw passwordRefused(fault);
  }

  /** The hash of a new password. Throws PASSWORD_REFUSED if it is known from a breach, QUOTA_EXCEEDED and UNAVAILABLE. */
  async hash(password: string, { network, gone }: Visitor): Promise<string> {
    const { settings, hasher } = this.#parts;
    const onFailure = (error: unknown) => this.#noteUnasked(error);
    if (settings.password.breached && (await isBreached(normalizedPassword(password), fetch, { onFailure })))
      throw passwordRefused({ code: "breached", detail: "This password is on a list of stolen passwords." });
    return hasher.hash(password, network, gone);
  }

  /** The list of stolen passwords cannot be asked, so passwords are taken without it. The log says so once. */
  #noteUnasked(error: unknown): void {
    const { meter, warn } = this.#parts;
    meter?.onUnasked();
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    warn(
      `auth.users.password.breached: the list of stolen passwords cannot be asked, so new passwords are taken without it: ${(error as Error).message}`,
    );
  }
}

function passwordRefused(fault: { code: string; detail: string }): Problem {
  return new Problem("PASSWORD_REFUSED", fault.detail, {
    violations: [{ in: "body", pointer: "#/password", ...fault }],
  });
}
