/** Which factors a user has, which ones a sign-in asks for, and who must have one. */
import { hash } from "node:crypto";
import type { Account } from "./user-records.ts";
import type { UserSettings } from "./user-settings.ts";

/** What can be a second factor. */
export type SecondFactorKind = "totp" | "recoveryCode" | "passkey";

/** What decides about factors. */
export type FactorSettings = Pick<UserSettings, "secondFactor" | "methods">;

/** What a sign-in asks for after the first factor; empty if one factor is enough. */
export function secondFactorsOf(
  settings: FactorSettings,
  { totp, recoveryCodes = [], passkeys = [], roles }: Account,
): SecondFactorKind[] {
  if (settings.secondFactor === "off") return [];
  const hasPasskey = passkeys.length > 0 && settings.methods.includes("passkey");
  // A user can add a passkey for convenience. A sign-in asks for it after a password only if the service requires a second factor.
  if (totp === undefined && !(hasPasskey && isRequired(settings, roles))) return [];
  return [
    ...(totp === undefined ? [] : ["totp" as const]),
    ...(hasPasskey ? ["passkey" as const] : []),
    ...(recoveryCodes.length > 0 ? ["recoveryCode" as const] : []),
  ];
}

/** Whether the service requires a second factor of users with these roles. */
export function isRequired({ secondFactor }: FactorSettings, roles: readonly string[]): boolean {
  if (typeof secondFactor === "string") return secondFactor === "required";
  return secondFactor.roles.some((role) => roles.includes(role));
}

/** Whether a user must set up a second factor before anything else. */
export function isMissingFactor(settings: FactorSettings, account: Account): boolean {
  return isRequired(settings, account.roles) && secondFactorsOf(settings, account).length === 0;
}

/** Names what the second step of a sign-in depends on, so that a ticket from before a change does not work after it. */
export function stampOf({ address, password, totp, passkeys = [], epoch = 0 }: Account): string {
  const ids = passkeys.map(({ id }) => id);
  return hash("sha256", JSON.stringify([address, password, totp?.id, ids, epoch]), "base64url");
}

/** The account in its next epoch. Sign-ins that wait for the second factor cannot go on. */
export function inNewEpoch(account: Account): Account {
  return { ...account, epoch: (account.epoch ?? 0) + 1 };
}
