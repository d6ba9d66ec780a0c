/** Secret texts that a test has seen, and a search for them in every form in which something could write them. */
import assert from "node:assert/strict";

/** The members of bodies that are secret. */
const secretMembers = new Set([
  "attestationObject",
  "authenticatorData",
  "challenge",
  "clientDataJSON",
  "code",
  "device",
  "invitation",
  "key",
  "password",
  "recoveryCode",
  "recoveryCodes",
  "secret",
  "signature",
  "ticket",
  "token",
  "totp",
  // of a provider
  "access_token",
  "client_secret",
  "code_verifier",
  "id_token",
  "nonce",
  "refresh_token",
  "state",
]);

/** Secret texts, each with what it is. */
export class Canaries {
  readonly #known = new Map<string, string>();

  /** What there is: the kinds of secret texts, and how many are of each. */
  kinds(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const kind of this.#known.values()) counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  }

  add(kind: string, text: string): void {
    assert.ok(text.length >= 6, `${kind} is too short to be looked for: ${text}`);
    this.#known.set(text, kind);
  }

  /** Adds what is secret in a JSON value. */
  addFrom(value: unknown): void {
    if (typeof value !== "object" || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      const texts = Array.isArray(member) ? member : [member];
      for (const text of texts)
        if (typeof text === "string" && secretMembers.has(name) && text !== "") this.add(name, text);
      this.addFrom(member);
    }
  }

  /** Adds what is secret in a query string, or behind the `#` of an address. */
  addFromQuery(query: string): void {
    for (const [name, value] of new URLSearchParams(query))
      if ((name === "link" && value !== "true") || secretMembers.has(name)) this.add(name, value);
      else if (name === "secondFactor") this.addFrom(JSON.parse(value));
  }

  /** The secret texts in a text: what each is, and the form in which it is there. */
  foundIn(text: string): string[] {
    const found: string[] = [];
    for (const [secret, kind] of this.#known)
      for (const form of formsOf(secret, kind))
        if (text.includes(form)) {
          found.push(`${kind} ${secret} as ${form}`);
          break;
        }
    return found;
  }
}

/** The texts that would give a secret away: itself, a half of a long one, and its encodings. */
function formsOf(secret: string, kind: string): Set<string> {
  // Six digits alone are found by chance in every number of a log.
  if (kind === "totp") return new Set([`"${secret}"`, `=${secret}`, `:${secret}`, ` ${secret} `]);
  const typed = secret.replaceAll("-", "");
  const plain = [secret, typed, typed.toLowerCase(), secret.toLowerCase()];
  if (secret.length >= 32) plain.push(secret.slice(0, secret.length / 2), secret.slice(secret.length / 2));
  const bytes = [Buffer.from(secret)];
  if (/^[\w-]{32,}$/.test(secret)) bytes.push(Buffer.from(secret.replace(/^hf[sd]?_/, ""), "base64url"));
  const encoded = bytes.flatMap((each) => [
    each.toString("latin1"),
    each.toString("hex"),
    each.toString("hex").toUpperCase(),
    ...base64Of(each),
  ]);
  return new Set([...plain, encodeURIComponent(secret), ...encoded]);
}

/** What a longer text in base64 has of bytes inside it, at each place where they can begin. */
function base64Of(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]);
    const inner = (text: string) =>
      text.slice(Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6));
    return [inner(whole.toString("base64")), inner(whole.toString("base64url"))];
  });
}
