/** Reads the option `auth.users.providers`. */
import { mustBe, shortJson, suggest } from "../../collection/messages.ts";
import { StartFaults } from "../../errors/start-faults.ts";
import { StartError } from "../../errors.ts";
import { isLoopback } from "../../http/protocol/hosts.ts";
import { isObject } from "../../json/values.ts";
import { type MemberReader, membersOf, simply } from "../../members.ts";
import type { Reader } from "../../option.ts";
import { text, truth } from "../../readers.ts";
import type { PeopleSettings, Provider } from "./user-settings.ts";

/** A provider. Those with the names `google`, `github`, `gitlab` and `microsoft` are known, and need no `issuer`. */
export interface ProviderOptions {
  /** The exact issuer, an address with https. Only for providers that the service does not know. */
  readonly issuer?: string;
  /** What the provider calls this service. */
  readonly clientId: string;
  /** What people see. @default the name of a known provider; otherwise required */
  readonly name?: string;
  /** The id of the directory, for `microsoft` only. */
  readonly tenant?: string;
  /**
   * Whether an address that the provider calls verified counts as proven: its owner then gets an account without a code.
   * @default true for google and github, otherwise false
   */
  readonly trustEmail?: boolean;
}

interface Preset extends Pick<Provider, "label" | "trustEmail" | "github"> {
  issuer: (tenant: string) => string;
}

const presets: Readonly<Record<string, Preset>> = {
  google: { label: "Google", issuer: () => "https://accounts.google.com", trustEmail: true },
  github: {
    label: "GitHub",
    issuer: () => "https://github.com/login/oauth",
    trustEmail: true,
    github: {
      authorize: "https://github.com/login/oauth/authorize",
      token: "https://github.com/login/oauth/access_token",
      api: "https://api.github.com",
    },
  },
  gitlab: { label: "GitLab", issuer: () => "https://gitlab.com", trustEmail: false },
  microsoft: {
    label: "Microsoft",
    issuer: (tenant) => `https://login.microsoftonline.com/${tenant}/v2.0`,
    trustEmail: false,
  },
};

/** The most providers of a service. */
const mostProviders = 20;

/** A name in a path and, in upper case, in the name of a variable. */
const nameShape = /^[a-z][a-z\d-]{0,30}$/;

/** The environment variable with the secret of a provider. */
export function secretVariableOf(name: string): string {
  return `HOLDFAST_PROVIDER_${name.toUpperCase().replaceAll("-", "_")}_SECRET`;
}

const variableShape = /^HOLDFAST_PROVIDER_([A-Z][A-Z\d_]{0,30})_SECRET$/;

/** Whether a variable can have the secret of a provider. */
export function isProviderVariable(name: string): boolean {
  return variableShape.test(name);
}

/** The secrets of providers in the environment, by the names of the providers. */
export function providerSecretsIn(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const found = Object.entries(env).flatMap(([variable, secret]) => {
    const [, name] = variableShape.exec(variable) ?? [];
    return name === undefined || !secret ? [] : [[name.toLowerCase().replaceAll("_", "-"), secret]];
  });
  return Object.fromEntries(found) as Record<string, string>;
}

/** Reads the providers. Throws StartError with the faults of all of them. */
export const providers: MemberReader<readonly Provider[]> = (value, place) => {
  if (value === undefined) return undefined;
  if (!isObject(value)) throw mustBe(place, "an object with a member for each provider", value);
  const faults = new StartFaults();
  const names = Object.keys(value);
  if (names.length > mostProviders)
    throw new StartError(`${place} can have at most ${mostProviders} providers, not ${names.length}.`);
  const read = names.map((name) =>
    faults.read([name], () => provider(name, value[name], `${place}.${name}`)),
  );
  faults.throwIfAny();
  return read.map((each) => each());
};

function provider(name: string, value: unknown, place: string): Provider {
  if (!nameShape.test(name))
    throw new StartError(
      `${place}: a provider's name has 1 to 31 small letters, digits and hyphens, and begins with a letter.`,
    );
  const preset = presets[name];
  const own = { [name === "microsoft" ? "tenant" : "issuer"]: name === "microsoft" ? tenant : issuer };
  const given = membersOf<ProviderOptions>(
    value,
    place,
    {
      clientId: (id, of) => {
        if (id === undefined)
          throw new StartError(
            `${of} is missing. The provider shows it where you have registered the service.`,
          );
        return simply(shortText)(id, of);
      },
      name: simply(shortText),
      trustEmail: simply(truth),
      ...((preset === undefined || name === "microsoft") && own),
    } as Parameters<typeof membersOf<ProviderOptions>>[2],
    { secret: secretVariableOf(name), clientSecret: secretVariableOf(name) },
  );
  const { clientId = "", name: label = preset?.label, trustEmail = preset?.trustEmail ?? false } = given;
  if (label === undefined) throw new StartError(`${place}.name is missing. People see it, such as "Work".`);
  const usual = { name, label, clientId, trustEmail };
  if (preset === undefined) return { ...usual, issuer: given.issuer ?? "" };
  const { issuer: issuerOf, github } = preset;
  return { ...usual, issuer: issuerOf(given.tenant ?? ""), ...(github && { github }) };
}

const shortText: Reader<string> = (value) => {
  const given = text(value);
  if (given.length <= 200) return given;
  throw new Error("must have at most 200 characters");
};

/** A directory has one id. `common` and `organizations` would let every directory in. */
const tenant: MemberReader<string> = (value, place) => {
  if (typeof value === "string" && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(value)) return value;
  throw new StartError(
    `${place} must be the id of your directory, such as "72f988bf-86f1-41af-91ab-2d7cd011db47", not ${shortJson(value)}.`,
  );
};

const issuer: MemberReader<string> = (value, place) => {
  const url = typeof value === "string" ? URL.parse(value) : null;
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  if (url !== null && isSafe && `${url.username}${url.password}${url.search}${url.hash}` === "")
    return value as string;
  throw new StartError(
    `${place} must be the address of the issuer, such as "https://login.acme.example", not ${shortJson(value)}.`,
  );
};

/** Throws StartError if providers lack something that they need. */
export function requireProviders(
  { providers: all, methods, signUp, providerSecrets: secrets }: PeopleSettings,
  { isLocal }: { isLocal: boolean },
): void {
  const at = "auth.users";
  const faults = new StartFaults();
  const isMethod = methods.includes("providers");
  if (isMethod !== all.length > 0)
    faults.add(
      [],
      isMethod
        ? `${at}.methods has "providers", but there are none. Add ${at}.providers, such as { google: { clientId: "…" } }.`
        : `${at}.providers has no effect. Add "providers" to ${at}.methods.`,
    );
  if (isMethod && methods.length === 1 && signUp !== "closed" && !all.some((each) => each.trustEmail))
    faults.add(
      [],
      `${at}.methods: no new user could get an account, because no provider proves an address. Set trustEmail for one, or add "email".`,
    );
  for (const { name, issuer: of } of all)
    if (!isLocal && of.startsWith("http:"))
      faults.add(
        [name],
        `${at}.providers.${name}.issuer: others can reach this service, so it must be https.`,
      );
  const names = all.map(({ name }) => name);
  for (const name of Object.keys(secrets).filter((each) => !names.includes(each)))
    faults.add(
      [],
      `${secretVariableOf(name)} is set, but ${at}.providers has no "${name}". ${suggest(name, names)}`.trim(),
    );
  faults.throwIfAny();
}

/** Throws StartError if there is a secret of a provider, in a service without users. */
export function requireNoProviderSecrets(secrets: Readonly<Record<string, string>>): void {
  const [name] = Object.keys(secrets);
  if (name === undefined) return;
  throw new StartError(
    `${secretVariableOf(name)} is set, but the service has no auth.users, and so no providers. Add auth.users.providers, or remove the variable.`,
  );
}

/** Throws StartError if a provider has no secret. */
export function requireProviderSecrets({ providers: all, providerSecrets: secrets }: PeopleSettings): void {
  const faults = new StartFaults();
  for (const { name } of all.filter((each) => secrets[each.name] === undefined))
    faults.add(
      ["providers", name],
      `${secretVariableOf(name)} is missing. auth.users.providers.${name} needs this environment variable: the provider shows the secret where you have registered the service.`,
    );
  faults.throwIfAny();
}
