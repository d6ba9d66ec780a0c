/** Addresses of databases: what may stand behind the question mark. */
import { didYouMean } from "../../collection/messages.ts";
import { StartError } from "../../errors.ts";

/** What of the driver's parameters an address may have: none that would change what answers mean. */
const parameters = [
  "sslmode",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "sslnegotiation",
  "host",
  "port",
  "user",
  "password",
  "application_name",
  "options",
];

/** Whether the connection is encrypted and the server is who it says; the driver knows no more than these three. */
const modes = ["disable", "no-verify", "verify-full"];

/** Other words for the last one: what they ask for less it gives too. */
const stricter = /([?&]sslmode=)(?:require|verify-ca)(?=&|$)/;

/**
 * The address as the driver takes it. Throws StartError where it is none, or has a parameter that would be ignored, as a
 * misspelled `sslmode` would be; the address is never shown, since it may hold a password.
 */
export function readDatabaseUrl(address: string, as: string): string {
  if (!URL.canParse(address) || new URL(address).pathname.length <= 1)
    throw new StartError(`${as}: this is not a database address. Write postgres://user@host/database.`);
  const url = address.replace(stricter, "$1verify-full");
  const { searchParams } = new URL(url);
  for (const name of new Set(searchParams.keys())) requireParameter(name, searchParams.getAll(name), as);
  return url;
}

function requireParameter(name: string, values: readonly string[], as: string): void {
  const what = `${as}: the database address`;
  if (!parameters.includes(name)) {
    const known = didYouMean(name, parameters) || ` Known parameters: ${parameters.join(", ")}.`;
    throw new StartError(`${what} has an unknown parameter "${name.slice(0, 40)}".${known}`);
  }
  if (values.length > 1) throw new StartError(`${what} has the parameter "${name}" twice.`);
  if (name === "sslmode" && !modes.includes(values[0] ?? ""))
    throw new StartError(`${what} must have one of these values for sslmode: ${modes.join(", ")}.`);
}
