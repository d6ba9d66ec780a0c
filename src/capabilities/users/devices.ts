/** The devices from which a user has signed in. A device that is known has limits of its own, so that strangers cannot lock it out. */
import { randomText } from "../../access/api-key.ts";
import { hashCredential } from "../../access/credential-ring.ts";
import type { Account } from "./user-records.ts";

/** The most known devices of a user. */
const maxDevices = 20;

/** How long a device is known after its last sign-in, in milliseconds. */
export const deviceMs = 400 * 24 * 3_600_000;

/** What a new device shows at its next sign-in: 256 random bits. */
export function newDevice(): string {
  return `hfd_${randomText(32, 50)}`;
}

function hashOf(device: string): string {
  return hashCredential(device).toString("base64url");
}

/** Whether a user has signed in from a device. */
export function isKnownDevice({ devices }: Account, device: string | undefined, now: number): boolean {
  if (device === undefined) return false;
  const hash = hashOf(device);
  return devices.some((each) => each.hash === hash && now - each.at < deviceMs);
}

/** The account with the sign-in of a device. */
export function withDevice(account: Account, device: string, now: number): Account {
  const hash = hashOf(device);
  const others = account.devices.filter((each) => each.hash !== hash);
  return { ...account, devices: [{ hash, at: now }, ...others].slice(0, maxDevices) };
}

/** The account without a device. */
export function withoutDevice(account: Account, device: string): Account {
  const hash = hashOf(device);
  return { ...account, devices: account.devices.filter((each) => each.hash !== hash) };
}
