/** Reads the files that a service needs to start and that its configuration names: the key set, the certificate and its key. */
import type { AuthSettings } from "../access/authenticate.ts";
import { StartFaults } from "../errors/start-faults.ts";
import type { TlsFiles } from "../http/settings.ts";
import type { KeyPair } from "../http/wire/tls.ts";

/** The options that name files. Each function throws StartError if its option has faults. */
export interface FileOptions {
  tls: () => TlsFiles | undefined;
  auth: () => AuthSettings | undefined;
}

/**
 * Checks the key set of the issuer, and returns the certificate with its key. Skips files that the configuration does not
 * name. Throws StartError with the faults of all files.
 */
export async function readFiles({ tls, auth }: FileOptions, now: number): Promise<KeyPair | undefined> {
  const faults = new StartFaults();
  await faults.wait(["auth", "jwt", "jwks"], async () => {
    const settings = auth();
    if (settings === undefined) return;
    const { requireSources } = await import("../access/authenticate.ts");
    await requireSources(settings);
  });
  const pair = await faults.wait(["tls"], async () => {
    const files = tls();
    if (files === undefined) return undefined;
    const { readKeyPair } = await import("../http/wire/tls.ts");
    return readKeyPair(files, now);
  });
  faults.throwIfAny();
  return pair();
}

/** Like `readFiles`, for a configuration without faults. */
export function readFilesOf(
  { auth, http: { tls } }: { auth: AuthSettings | undefined; http: { tls: TlsFiles | undefined } },
  now: number,
): Promise<KeyPair | undefined> {
  return readFiles({ auth: () => auth, tls: () => tls }, now);
}
