/** Secrets and signatures of webhooks (Standard Webhooks 1.0). */
import { createHmac, randomBytes } from "node:crypto";

const mark = "whsec_";

/** The bytes that a secret can have. */
export const secretSizes = { least: 24, most: 64, ofNew: 32 } as const;

/** A new secret. */
export function createSecret(): string {
  return mark + randomBytes(secretSizes.ofNew).toString("base64");
}

/** The bytes of a secret; `undefined` if the text is not a secret. */
export function secretBytesOf(secret: string): Buffer | undefined {
  if (!secret.startsWith(mark)) return undefined;
  const text = secret.slice(mark.length);
  const bytes = Buffer.from(text, "base64");
  const isWhole = bytes.toString("base64").replace(/=+$/, "") === text.replace(/=+$/, "");
  return isWhole && bytes.length >= secretSizes.least && bytes.length <= secretSizes.most ? bytes : undefined;
}

/** What a signature covers. */
export interface Signed {
  /** The id of the event. */
  id: string;
  /** Unix time in seconds. */
  timestamp: number;
  /** The exact text of the body. */
  body: string;
}

/** The headers that identify and sign a delivery. With several secrets, one valid signature is enough for a receiver. */
export function signatureHeaders(
  { id, timestamp, body }: Signed,
  secrets: readonly string[],
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const hmac = createHmac("sha256", secretBytesOf(secret) ?? Buffer.alloc(0));
    return `v1,${hmac.update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatures.join(" "),
  };
}
