/** Which passwords are refused: too short, too common, made of what everybody can know, or known from a breach. */
import { hash } from "node:crypto";
import { readBuiltText } from "../../program.ts";

/** What a password must not be made of. */
export interface PasswordContext {
  /** The title of the service. */
  title: string;
  /** The address of the user. */
  address: string;
  /** The texts of the profile. */
  texts: readonly string[];
  /** The words of the configuration. */
  words: readonly string[];
}

/** Why a password is refused. */
export interface PasswordRefusal {
  code: "length" | "control" | "common" | "personal";
  /** A sentence for the user, without the password. */
  detail: string;
}

/** The common passwords, one a line, in lower case. The build writes the file (`tools/build/common-passwords.ts`). */
const commonPasswordsFile = "common-passwords.txt";

const shortest = 8;
const longest = 256;

/** How many characters must remain beside the words that everybody can know. */
const leastOwn = 6;

/** Shorter parts of names are in many good passwords. Longer texts of a profile are not what a password is made of. */
const wordLength = { least: 3, most: 64 };

/** The most words that a password is compared with. */
const mostWords = 1_000;

/**
 * The form of a password that is compared and stored, as RFC 8265 §4.2 says (OpaqueString): each space is U+0020, and the text is in the
 * Unicode form NFC. Keyboards and systems write the same characters in different forms.
 */
export function normalizedPassword(password: string): string {
  return password.replace(/\p{Zs}/gu, " ").normalize("NFC");
}

/** Why a password is refused; `undefined` if it is not. Judges it in the form that is stored, with its spaces. */
export function refusedPassword(given: string, context: PasswordContext): PasswordRefusal | undefined {
  const password = normalizedPassword(given.slice(0, 8 * longest)); // a character can have several parts
  if (/\p{Cc}/u.test(password))
    return {
      code: "control",
      detail: "A password has no control characters, such as a tab or the end of a line.",
    };
  const { length } = [...password.slice(0, 2 * longest + 1)];
  if (length < shortest || length > longest || !password.isWellFormed())
    return { code: "length", detail: `A password has ${shortest} to ${longest} characters.` };
  const lower = password.toLowerCase();
  if (commonPasswords().has(lower))
    return { code: "common", detail: "This password is on a list of the most common ones." };
  if (remaining(lower, wordsOf(context)) < leastOwn)
    return {
      code: "personal",
      detail: `Apart from names and words that others can guess, a password needs ${leastOwn} characters or more.`,
    };
  return undefined;
}

let common: ReadonlySet<string> | undefined;

function commonPasswords(): ReadonlySet<string> {
  if (common !== undefined) return common;
  const text = readBuiltText(commonPasswordsFile);
  if (text === undefined) throw new Error(`dist/${commonPasswordsFile} is missing. Run: npm run build`);
  common = new Set(text.split("\n"));
  return common;
}

/** Each text as a whole, and the parts between its marks and spaces. */
function wordsOf({ title, address, texts, words }: PasswordContext): ReadonlySet<string> {
  const short = texts.filter((text) => text.length <= wordLength.most);
  const all = new Set<string>();
  for (const text of [title, address, ...address.split("@"), ...words, ...short])
    for (const word of [text, ...text.split(/[^\p{L}\p{N}\p{M}]+/u)]) {
      if (all.size >= mostWords) return all;
      const lower = normalizedPassword(word).trim().toLowerCase();
      if (lower.length >= wordLength.least) all.add(lower);
    }
  return all;
}

/** The characters of a password that belong to no word. */
function remaining(password: string, words: ReadonlySet<string>): number {
  const isCovered = new Set<number>();
  for (const word of words)
    for (let at = password.indexOf(word); at >= 0; at = password.indexOf(word, at + 1))
      for (let n = 0; n < word.length; n++) isCovered.add(at + n);
  return [
    ...password
      .split("")
      .filter((_, at) => !isCovered.has(at))
      .join(""),
  ].length;
}

/** How the list of known passwords is asked. */
export interface BreachOptions {
  /** The URL before the five digits. @default that of Have I Been Pwned */
  url?: string;
  /** Called if the list cannot be asked; the password then counts as unknown. @default does nothing */
  onFailure?: (error: unknown) => void;
}

/** How long the list is waited for, and the most characters of its answer. Have I Been Pwned sends about 40,000. */
const patience = { ms: 2_000, characters: 500_000 };

/**
 * Whether a password is known from a breach, by the range API of Have I Been Pwned: five of the 40 hexadecimal digits of its SHA-1
 * leave the service, and the padding hides how many passwords have them. `false` if the API cannot be asked.
 */
export async function isBreached(
  password: string,
  fetch: typeof globalThis.fetch,
  { url = "https://api.pwnedpasswords.com/range/", onFailure = () => {} }: BreachOptions = {},
): Promise<boolean> {
  const digest = hash("sha1", password).toUpperCase();
  try {
    const response = await fetch(url + digest.slice(0, 5), {
      headers: { "add-padding": "true", "user-agent": "holdfast" },
      redirect: "error",
      signal: AbortSignal.timeout(patience.ms),
    });
    if (!response.ok) throw new Error(`The list of known passwords responded with ${response.status}.`);
    const known = new RegExp(`^${digest.slice(5)}:0*[1-9]`, "im"); // padding has the count 0
    return known.test(await readText(response));
  } catch (error) {
    onFailure(error);
    return false;
  }
}

/** The text of a response. Throws an Error if it is too long. */
async function readText(response: Response): Promise<string> {
  let text = "";
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (text.length > patience.characters)
      throw new Error("The response of the list of known passwords is too long.");
  }
  return text;
}
