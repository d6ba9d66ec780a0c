/** The pages for people: the one on which they sign in, and the address of it that password managers know. */
import { page, publicDocument } from "../../../http/endpoints/documents.ts";
import { requireNoParameters } from "../../../query/list-parameters.ts";
import type { UsersEndpoint } from "../open-users.ts";

/** The endpoints. No document describes them. */
export const pageEndpoints: readonly UsersEndpoint[] = [
  {
    ...publicDocument({
      ...page("getSignInPage"),
      isInApplications: true,
      path: "/_sign-in",
      parse: (_, { route }) => requireNoParameters(withoutReturn(route.query)),
      document: async ({ settings }) => {
        const { prefix, pagesBelow, profiles, cookieOrigins = [], info } = settings;
        if (profiles === undefined) return undefined;
        const { builtPage } = await import("../../../http/documents/console.ts");
        return builtPage("sign-in.html", {
          prefix: prefix.slice(pagesBelow?.length ?? 0),
          users: profiles,
          origins: cookieOrigins.join(" "),
          title: info.title,
        });
      },
    }),
    exists: (_, settings) => settings !== undefined,
  },
  {
    ...publicDocument({
      ...page("changePassword"),
      path: "/.well-known/change-password",
      document: () => ({
        status: 303,
        type: "text/plain",
        body: "",
        headers: { location: "/_sign-in#account" },
      }),
    }),
    exists: (_, settings) => settings?.methods.includes("password") === true,
  },
];

/** A query string without `return`, which only the page itself reads. */
function withoutReturn(query: string): string {
  const parameters = new URLSearchParams(query);
  parameters.delete("return");
  return String(parameters);
}
