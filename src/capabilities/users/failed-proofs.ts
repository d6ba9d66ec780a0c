/** What the audit records of proofs that were wrong, and of limits that were reached. */
import { Problem } from "../../errors.ts";
import type { Audit, AuditKind } from "./audit.ts";
import type { UserMeter, Visitor } from "./flows.ts";
import { readMailAddress } from "./mail-address.ts";
import { ticketId } from "./tickets.ts";
import type { UserRecords } from "./user-records.ts";

/** A request for a proof, or for a mail, that has failed. */
export interface FailedRequest {
  /** What it proves; `undefined` if it proves nothing. */
  kind: AuditKind | undefined;
  /** The members of its body. */
  given: Readonly<Record<string, unknown>>;
  /** The user whose session has sent it. */
  subject: string | undefined;
  /** Whether it is about that user, whatever address the body names. */
  isOwn: boolean;
  visitor: Visitor;
}

/** What counts as a way to sign in for the metrics. */
const ways: ReadonlySet<AuditKind> = new Set(["signIn", "confirmation", "secondFactor", "password", "email"]);

/** How something was proven, by the members of a body. */
export function methodOf(given: Readonly<Record<string, unknown>>): string {
  const special = ["passkey", "totp", "recoveryCode"].find((name) => given[name] !== undefined);
  return special ?? (given.ticket === undefined ? "password" : "email");
}

/**
 * Records the failure of a request, if it is a wrong proof or a limit that was reached. It asks the store the same for every address,
 * whether it has an account or not.
 */
export async function noteFailure(
  problem: unknown,
  { kind, given, subject: own, isOwn, visitor }: FailedRequest,
  { audit, records, meter }: { audit: Audit; records: UserRecords; meter?: UserMeter | undefined },
): Promise<void> {
  if (!(problem instanceof Problem)) return;
  const { code, policy } = problem;
  if (code !== "SIGN_IN_FAILED" && policy === undefined) return;
  const address = isOwn ? undefined : (await addressIn(given, records)) || undefined; // some tickets are for no address
  const account = address === undefined ? undefined : (await records.accountOf(address))?.value;
  const about = address ?? own ?? visitor.network;
  const found = { subject: address === undefined ? own : account?.id, email: account?.email };
  if (kind !== undefined && ways.has(kind))
    meter?.onSignIn(methodOf(given), policy === undefined ? "failed" : "refused");
  if (policy === undefined)
    return audit.count(
      { kind: kind ?? "signIn", result: "failed", method: methodOf(given), ...found },
      visitor,
      about,
    );
  // A network has one entry, so that it cannot make one for each address that it tries.
  const isOfNetwork = policy.endsWith("-network") || policy === "password-waiting";
  const refused = { kind: "refusal", result: "refused", policy } as const;
  return isOfNetwork
    ? audit.count(refused, visitor, visitor.network)
    : audit.count({ ...refused, ...found }, visitor, about);
}

/** The address that a body is about, in the form in which addresses are compared. */
async function addressIn(
  { email, ticket }: Readonly<Record<string, unknown>>,
  records: UserRecords,
): Promise<string | undefined> {
  if (typeof email === "string") {
    const read = readMailAddress(email);
    return "fault" in read ? undefined : read.key;
  }
  if (typeof ticket !== "string") return undefined;
  return (await records.ticket(ticketId(ticket)))?.value.address;
}
