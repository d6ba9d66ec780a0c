/** Checks the address of a database. */
import { didYouMean } from "../../collection/messages.ts";
import { StartError } from "../../errors.ts";

/** The driver's parameters that an address can have. Other parameters could change the meaning of results. */
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

/** The values of `sslmode`. The driver distinguishes only these three. */
const sslModes = ["disable", "no-verify", "verify-full"];

/** Other values that become `verify-full`, which is stricter. */
const aliasOfVerifyFull = /([?&]sslmode=)(?:require|verify-ca)(?=&|$)/;

/**
 * The address in the form of the driver. Throws StartError if it is not an address, or if it has a parameter that would
 * be ignored, such as a misspelled `sslmode`. The message does not contain the address, because it can contain a
 * password.
 */
export function readDatabaseUrl(address: string, as: string): string {
  if (!URL.canParse(address) || new URL(address).pathname.length <= 1)
    throw new StartError(`${as}: this is not a database address. Write postgres://user@host/database.`);
  const url = address.replace(aliasOfVerifyFull, "$1verify-full");
  const { searchParams } = new URL(url);
  for (const name of new Set(searchParams.keys())) requireParameter(name, searchParams.getAll(name), as);
  return url;
}

function requireParameter(name: string, values: readonly string[], as: string): void {
  const subject = `${as}: the database address`;
  if (!parameters.includes(name)) {
    const known = didYouMean(name, parameters) || ` Known parameters: ${parameters.join(", ")}.`;
    throw new StartError(`${subject} has an unknown parameter "${name.slice(0, 40)}".${known}`);
  }
  if (values.length > 1) throw new StartError(`${subject} has the parameter "${name}" twice.`);
  if (name === "sslmode" && !sslModes.includes(values[0] ?? ""))
    throw new StartError(`${subject} must have one of these values for sslmode: ${sslModes.join(", ")}.`);
}
