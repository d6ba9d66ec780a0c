/** Passkeys of this browser. */
import { Refusal } from "./auth-service.ts";
import { signInPageTexts as texts } from "./sign-in-page-texts.ts";

/** Whether the browser can use passkeys of a service that sends its options as JSON. */
export const hasPasskeys =
  typeof PublicKeyCredential !== "undefined" &&
  typeof PublicKeyCredential.parseRequestOptionsFromJSON === "function";

/** Whether this device can make a passkey by itself, for example with a fingerprint. */
export async function canMakePasskey(): Promise<boolean> {
  return hasPasskeys && (await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable());
}

/** Has the user choose a passkey, and signs the challenge of the options with it. Throws Refusal. */
export function askPasskey(options: object): Promise<object> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as PublicKeyCredentialRequestOptionsJSON,
  );
  return jsonOf(navigator.credentials.get({ publicKey }));
}

/** Has the user make a passkey. Throws Refusal. */
export function makePasskey(options: object): Promise<object> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as PublicKeyCredentialCreationOptionsJSON,
  );
  return jsonOf(navigator.credentials.create({ publicKey }));
}

/** Browsers do not say why there is no passkey, so that pages do not learn who has one. */
async function jsonOf(asked: Promise<Credential | null>): Promise<object> {
  const credential = await asked.catch(() => null);
  if (credential === null) throw new Refusal(texts.noPasskey);
  return (credential as PublicKeyCredential).toJSON();
}
