/** Receivers on this machine, without a service. */
import { AllowList } from "../../../../src/capabilities/webhooks/addresses.ts";
import { Receivers } from "../../../../src/capabilities/webhooks/receivers.ts";

/** By default, every name is one of this machine. */
export function loopbackReceivers(
  resolve: (name: string) => Promise<string[]> = async () => ["127.0.0.1"],
): Receivers {
  return new Receivers({ allow: new AllowList(["127.0.0.0/8"]), resolve });
}
