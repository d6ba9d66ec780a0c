/** Connections to receivers on this machine, without a service. */
import { AllowList } from "../../../src/webhooks/addresses.ts";
import { Connections } from "../../../src/webhooks/connections.ts";

/** By default, every name is one of this machine. */
export function loopbackConnections(
  resolve: (name: string) => Promise<string[]> = async () => ["127.0.0.1"],
): Connections {
  return new Connections({ allow: new AllowList(["127.0.0.0/8"]), resolve });
}
