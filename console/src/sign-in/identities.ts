/** The identities at providers that are linked to the account of somebody who has signed in. */
import { addressOf, type Provider, Refusal, send } from "./auth-service.ts";
import { buttonOf, element } from "./form.ts";
import { forgetLink, readLink } from "./pending.ts";
import { signInPageTexts as texts } from "./sign-in-page-texts.ts";

interface Identity {
  id: string;
  provider: string;
  email?: string;
}

/** What the identities need of the account. */
export interface IdentityParts {
  providers: readonly Provider[];
  say: (message: string) => void;
  confirmed: (work: () => Promise<void>) => Promise<void>;
  back: (notice: string) => Promise<void>;
}

/** What people see of a provider. */
export function labelOf(providers: readonly Provider[], name: string): string {
  return providers.find((each) => each.name === name)?.label ?? name;
}

/** Where this page shows the account. */
const accountPath = `${location.pathname}#account`;

/** The linked identities, and the providers that can be added. */
export async function identitiesPart({ providers, say, confirmed, back }: IdentityParts): Promise<Node[]> {
  const { identities } = await send<{ identities: readonly Identity[] }>("GET", "_auth/identities");
  const rows = identities.map(({ id, provider, email = "" }) => {
    const name = labelOf(providers, provider);
    const remove = async () => {
      await send("DELETE", `_auth/identities/${encodeURIComponent(id)}`);
      await back(texts.removed);
    };
    const about = element("div", {}, element("strong", {}, name), element("p", { class: "hint" }, email));
    const label = { "aria-label": texts.removeOf(name) };
    return element(
      "li",
      {},
      about,
      buttonOf(texts.remove, () => confirmed(remove), say, label),
    );
  });
  const links = providers.map((provider) => {
    const href = addressOf(provider, { link: "true", return: accountPath });
    return element("a", { href, class: "other" }, texts.link(provider.label));
  });
  return [
    element("h2", {}, texts.identities),
    element("ul", {}, ...rows),
    element("div", { class: "buttons" }, ...links),
  ];
}

/** The addresses at which people sign in with providers. */
export function providerLinks(providers: readonly Provider[], returnTo: string | null): HTMLElement[] {
  return providers.map((provider) => {
    const href = addressOf(provider, { return: returnTo ?? accountPath });
    return element("a", { href, class: "other" }, texts.withProvider(provider.label));
  });
}

/** Links the identity that waits in this browser, in the session of its owner. Returns what to tell. */
export async function linkWaiting(
  providers: readonly Provider[],
): Promise<{ isLinked: boolean; message: string }> {
  const link = readLink();
  if (link === undefined) return { isLinked: true, message: "" };
  const label = labelOf(providers, link.provider);
  try {
    await send("POST", "_auth/identities", { ticket: link.ticket });
  } catch (error) {
    // The user proves first who they are, and tries again.
    if (error instanceof Refusal && error.code === "CONFIRMATION_REQUIRED") throw error;
    forgetLink();
    return { isLinked: false, message: texts.notLinked(label, (error as Error).message) };
  }
  forgetLink();
  return { isLinked: true, message: texts.linked(label) };
}
