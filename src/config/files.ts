/** Reads the files that a configuration names and that a service needs when it starts. */
import type { AuthSettings } from "../access/settings.ts";
import { StartFaults } from "../errors/start-faults.ts";
import type { KeyPair, TlsFiles } from "../http/wire/tls.ts";

/** What names files. Each may throw StartError where it has faults itself. */
export interface NamingFiles {
  tls: () => TlsFiles | undefined;
  auth: () => AuthSettings | undefined;
}

/** Gives the certificate and its key, where there are some. Throws StartError with everything that is wrong with any file. */
export async function readFiles({ tls, auth }: NamingFiles, now: number): Promise<KeyPair | undefined> {
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
