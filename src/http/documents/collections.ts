/** The list of collections, at the prefix. */
import type { Caller } from "../caller/admit.ts";
import type { Document } from "../operations/result.ts";
import { jsonType } from "../protocol/message.ts";
import { serviceDescription } from "../route.ts";
import { type Callers, type Data, type Surface, servedNames } from "../service.ts";

/** The sorted names of the collections that the caller can list. */
export async function listedNames(
  service: Data & Callers,
  { principal }: Pick<Caller, "principal">,
): Promise<string[]> {
  const { access } = service;
  const mayList = (name: string) => access?.permit(name, principal).may("list") !== "nothing";
  return (await servedNames(service)).filter(mayList);
}

/** The list of collections as JSON: the name and the path of each. */
export async function collectionsDocument(
  service: Data & Callers & Surface,
  caller: Pick<Caller, "principal">,
): Promise<Document> {
  const { settings } = service;
  const names = await listedNames(service, caller);
  const collections = names.map((name) => ({ name, href: `${settings.prefix}/${name}` }));
  return {
    status: 200,
    type: jsonType,
    body: JSON.stringify({ collections }),
    ...(settings.docs ? { headers: { link: serviceDescription(settings) } } : {}),
  };
}
