/**
 * The page at `/_sign-in`: people sign in and up, and look after their account. The fragment of the address says which part is shown.
 * The link of a mail leads to `#code=…`. It does nothing by itself: in the browser that has the ticket, one press of a button
 * finishes, and every other browser only shows the code.
 */
import "./sign-in-page.css";
import { type AccountParts, linkAndShow, showAccount } from "./account.ts";
import { otherOrigins, Refusal, send, serviceTitle, type Ways } from "./auth-service.ts";
import { buttonOf, element, type Field, formOf } from "./form.ts";
import { labelOf, linkWaiting, providerLinks } from "./identities.ts";
import { hasPasskeys } from "./passkey.ts";
import { isPasskeyOffered, offerPasskey } from "./passkey-offer.ts";
import { forgetPending, keepLink, keepPending, type Pending, readLink, readPending } from "./pending.ts";
import { profileCollection } from "./profile.ts";
import { profileField, profileFields } from "./profile-fields.ts";
import { returnTarget } from "./return-target.ts";
import { prove, proveByPasskey, type SecondStep, showStep } from "./second-step.ts";
import { signInPageTexts as texts } from "./sign-in-page-texts.ts";

const page = document.getElementById("page") as HTMLElement;

const email: Field = { name: "email", label: texts.email, type: "email", autocomplete: "username" };

/** What a provider says about the person who has come from there. */
let suggested: string | undefined;

/** `known` is the only address that can be used, if there is one. */
function address(known?: string): Field {
  if (known !== undefined) return { ...email, value: known, isReadOnly: true };
  return suggested === undefined ? email : { ...email, value: suggested };
}

const newPassword: Field = {
  name: "password",
  label: texts.newPassword,
  type: "password",
  autocomplete: "new-password",
  hint: texts.passwordHint,
};

/** Shows a part of the page. The focus goes to its first field that is empty, or to its heading if it has several parts or no field. */
function show(heading: string, ...content: (Node | string)[]): void {
  document.title = serviceTitle === "" ? heading : `${heading} - ${serviceTitle}`;
  const title = element("h1", { tabindex: "-1" }, heading);
  page.replaceChildren(element("p", { class: "service" }, serviceTitle), title, ...content);
  const inputs = [...page.querySelectorAll<HTMLInputElement>("form input:not([readonly])")];
  const isComplete = inputs.length > 0 && inputs.every(({ value }) => value !== "");
  const first = isComplete
    ? page.querySelector<HTMLElement>("button.main")
    : inputs.find(({ value }) => value === "");
  (page.querySelector("h2") === null ? (first ?? title) : title).focus();
}

function hint(text: string): HTMLElement {
  return element("p", { class: "lead" }, text);
}

/** Links to other parts. */
function links(...all: (readonly [fragment: string, text: string] | false)[]): HTMLElement {
  const shown = all.filter((each) => each !== false);
  return element(
    "nav",
    {},
    ...shown.map(([fragment, text]) => element("a", { href: `${location.search}#${fragment}` }, text)),
  );
}

const returnParameter = new URLSearchParams(location.search).get("return");

/** Where to go after a sign-in; `undefined` for the account. */
function targetOf(returnTo: string | null): string | undefined {
  const target = returnTarget(returnTo, location.origin, otherOrigins);
  return target?.startsWith(location.origin + location.pathname) === true ? undefined : target;
}

/** What the account shows next. */
let told = "";

/** Ends a sign-in: links the identity that waits for it, offers a passkey, and goes where the page was asked to return to. */
async function goOn(returnTo = returnParameter): Promise<void> {
  forgetPending();
  const ways = await send<Ways>("GET", "_auth");
  const parts = partsOf(ways);
  // A session that must add a factor can do nothing else. What waits goes on afterwards.
  if (parts === undefined || parts.mustAddFactor) return goTo("#account");
  const { isLinked, message } = await linkWaiting(parts.providers);
  const target = isLinked ? targetOf(returnTo) : undefined;
  const leave = (notice: string) => {
    told = message || notice;
    if (target === undefined) goTo("#account");
    else location.replace(target);
  };
  if (isLinked && (await isPasskeyOffered(parts))) offerPasskey(parts, leave);
  else leave("");
}

/** Shows the part of a fragment, also if the address has it already. */
function goTo(fragment: string): void {
  if (location.hash === fragment) reopen();
  else location.hash = fragment;
}

/** `message` is what has failed before. */
function signInPart({ methods, signUp, providers = [] }: Ways, message = ""): void {
  const hasCode = methods.includes("email");
  const link = readLink();
  const status = element("p", { role: "alert", class: "alert" }, message);
  const say = (fault: string) => {
    status.textContent = fault;
  };
  const password: Field = {
    name: "password",
    label: texts.password,
    type: "password",
    autocomplete: "current-password",
  };
  const byPassword = () =>
    formOf({
      fields: [address(), password],
      submit: texts.signIn,
      work: (proof) => prove(show, { path: "_auth/sign-in", proof }, goOn),
    });
  const hasPassword = methods.includes("password");
  const byPasskey = () => proveByPasskey(show, "_auth/sign-in", goOn);
  show(
    texts.signIn,
    ...(link === undefined ? [] : [hint(texts.linkHint(labelOf(providers, link.provider)))]),
    status,
    ...(hasPassword ? [byPassword()] : []),
    ...(hasCode && !hasPassword ? [hint(texts.codeHint), codeForm("signIn", "_auth/code")] : []),
    element(
      "div",
      { class: "others" },
      ...(methods.includes("passkey") && hasPasskeys ? [buttonOf(texts.withPasskey, byPasskey, say)] : []),
      ...(link === undefined ? providerLinks(providers, returnParameter) : []),
    ),
    links(
      hasPassword && hasCode && ["by-code", texts.byCode],
      hasPassword && ["forgotten", texts.forgotten],
      canSignUp(signUp) && ["sign-up", texts.signUp],
    ),
  );
}

function canSignUp(signUp: string): boolean {
  return signUp === "open" || signUp === "domains";
}

/** Asks the service for a code, and then for the code itself. */
async function ask(
  kind: Pending["kind"],
  path: string,
  body: { email: string; invitation?: string },
): Promise<void> {
  const { ticket, expiresAt } = await send<{ ticket: string; expiresAt: string }>("POST", path, body);
  keepPending({
    kind,
    email: body.email,
    ticket,
    expiresAt: Date.parse(expiresAt),
    returnTo: returnParameter,
  });
  goTo("#enter");
}

/** A form that has the service mail a code. */
function codeForm(kind: Pending["kind"], path: string): HTMLFormElement {
  return formOf({
    fields: [address()],
    submit: texts.sendCode,
    work: (values) => ask(kind, path, { email: String(values.email) }),
  });
}

function byCodePart(signUp: string): void {
  const others = links(["", texts.signIn], canSignUp(signUp) && ["sign-up", texts.signUp]);
  show(texts.byCode, hint(texts.codeHint), codeForm("signIn", "_auth/code"), others);
}

function forgottenPart(): void {
  show(
    texts.forgotten,
    hint(texts.forgottenHint),
    codeForm("reset", "_auth/reset"),
    links(["", texts.signIn]),
  );
}

/** Where the names of the fields of the profile begin. */
const inProfile = "profile/";

/** What the service says about the invitation whose link was opened. */
interface Invited {
  email?: string;
  /** The attributes that the profile still needs. */
  required: readonly string[];
  /** Whether it gives an account another address. */
  hasAccount: boolean;
}

/** `invitation` is what the link of an invitation has brought. */
async function signUpPart({ methods }: Ways, invitation?: string): Promise<void> {
  const invited =
    invitation === undefined ? undefined : await send<Invited>("POST", "_auth/invitation", { invitation });
  const profile = profileFields(await profileCollection(), invited?.required).map(asProfile);
  const hasAccount = invited?.hasAccount === true;
  const takesPassword = methods.includes("password") && !hasAccount;
  const lead = hasAccount ? texts.newAddressHint : texts.invitedHint;
  show(
    hasAccount ? texts.changeAddress : texts.signUp,
    hint(invited === undefined ? texts.signUpHint : lead),
    formOf({
      fields: [...profile, address(invited?.email), ...(takesPassword ? [newPassword] : [])],
      submit: hasAccount ? texts.changeAddress : texts.signUp,
      // What is required, but cannot be read, becomes a field when the service asks for it.
      fieldFor: (name) =>
        name.startsWith(inProfile) ? asProfile(profileField(name.slice(inProfile.length))) : undefined,
      work: async (values) => {
        const names = Object.keys(values).filter((name) => name.startsWith(inProfile));
        const body = {
          email: String(values.email),
          ...(values.password !== undefined && { password: values.password }),
          // A profile that exists takes none.
          ...(names.length > 0 && {
            profile: Object.fromEntries(names.map((name) => [name.slice(inProfile.length), values[name]])),
          }),
          ...(invitation !== undefined && { invitation }),
        };
        await ask("signUp", "_auth/sign-up", body).catch(aboutProfile);
      },
    }),
    links(["", texts.haveAccount]),
  );
}

function asProfile(field: Field): Field {
  return { ...field, name: `${inProfile}${field.name}` };
}

/** The schema judges the profile alone, so it points into the profile. */
function aboutProfile(error: unknown): never {
  if (!(error instanceof Refusal) || error.code !== "VALIDATION_FAILED") throw error;
  const violations = error.violations.map(({ pointer = "#", ...others }) => ({
    ...others,
    pointer: pointer.startsWith(`#/${inProfile}`) ? pointer : pointer.replace("#/", `#/${inProfile}`),
  }));
  throw new Refusal(error.message, error.code, violations);
}

/** Asks for the code of a ticket in this browser. `code` came with the link of the mail. */
function enterPart({ kind, email: address, ticket, returnTo }: Pending, code = ""): void {
  const codeField: Field = {
    name: "code",
    label: texts.code,
    autocomplete: "one-time-code",
    value: code,
    isReadOnly: code !== "",
  };
  const user: Field = { ...email, value: address, isReadOnly: true };
  show(
    texts.enterCode,
    hint(code === "" ? texts.mailed(address) : texts.byLink(address)),
    formOf({
      fields: kind === "reset" ? [user, codeField, newPassword] : [user, codeField],
      submit: texts.finish[kind],
      work: ({ email: _, ...values }) => {
        const path = kind === "reset" ? "_auth/password" : "_auth/sign-in";
        return prove(show, { path, proof: { ...values, ticket } }, () => goOn(returnTo));
      },
    }),
    links([kind === "reset" ? "forgotten" : kind === "signUp" ? "sign-up" : "by-code", texts.startAgain]),
  );
}

/** What a browser without the ticket shows: nobody can do anything here but read. */
function otherBrowserPart(code: string): void {
  show(texts.yourCode, element("p", { class: "shown-code" }, code), hint(texts.otherBrowser));
}

const codePattern = /^#code=([\dA-Za-z]{4}-?[\dA-Za-z]{4})$/;

const invitationPattern = /^#invitation=([\w-]{1,100})$/;

/** Shows the part that the address names. */
async function open(): Promise<void> {
  const [, code] = codePattern.exec(location.hash) ?? [];
  const pending = readPending();
  if (code !== undefined) {
    // The code does not stay in the address, and so not in the history of the browser.
    history.replaceState(null, "", `${location.search || location.pathname}#enter`);
    return pending === undefined ? otherBrowserPart(code) : enterPart(pending, code);
  }
  const [, invitation] = invitationPattern.exec(location.hash) ?? [];
  if (invitation !== undefined) {
    const { pathname, search } = location;
    history.replaceState(null, "", `${pathname}${search}#sign-up`); // as with the code
    return signUpPart(await send<Ways>("GET", "_auth"), invitation);
  }
  if (location.hash.includes("=")) return fromProvider(new URLSearchParams(location.hash.slice(1)));
  const part = location.hash.slice(1);
  if (part === "enter" && pending !== undefined) return enterPart(pending);
  const ways = await send<Ways>("GET", "_auth");
  const isOpen = canSignUp(ways.signUp);
  if (part === "sign-up" && isOpen) return signUpPart(ways);
  if (part === "by-code" && ways.methods.includes("email")) return byCodePart(ways.signUp);
  if ((part === "forgotten" || part === "reset") && ways.methods.includes("password")) return forgottenPart();
  return accountOrSignIn(ways);
}

/** What the account needs; `undefined` unless somebody has signed in. */
function partsOf({ user, methods, providers = [], session }: Ways): AccountParts | undefined {
  if (user === undefined) return undefined;
  return {
    show,
    user,
    methods,
    providers,
    mustAddFactor: session?.mustAddFactor === true,
    target: targetOf(returnParameter),
    leave: () => goTo("#sign-in"),
    goOn: () => void goOn().catch(fail),
  };
}

function accountOrSignIn(ways: Ways, message = ""): void | Promise<void> {
  const parts = partsOf(ways);
  if (parts === undefined) return signInPart(ways, message);
  if (readLink() !== undefined) return linkAndShow(parts);
  const notice = message || told;
  told = "";
  return showAccount(parts, notice);
}

/** What the return from a provider has brought. It does not stay in the address. */
async function fromProvider(brought: URLSearchParams): Promise<void> {
  const provider = brought.get("provider") ?? "";
  const [link, step] = [brought.get("link"), brought.get("secondFactor")];
  history.replaceState(null, "", `${location.search || location.pathname}#sign-in`);
  const ways = await send<Ways>("GET", "_auth");
  if (step !== null) return showStep(show, JSON.parse(step) as SecondStep, goOn);
  // The texts of an address that somebody else has made are not shown.
  if (ways.providers?.some(({ name }) => name === provider) !== true) return accountOrSignIn(ways);
  suggested = brought.get("email") ?? undefined;
  if (link !== null) keepLink({ ticket: link, provider });
  const hasFailed = brought.has("error");
  const message = hasFailed ? texts.providerFailed(labelOf(ways.providers ?? [], provider)) : "";
  return accountOrSignIn(ways, message);
}

function fail(error: Error): void {
  const again = element("a", { href: location.pathname + location.search }, texts.startAgain);
  show(
    texts.signIn,
    element("p", { class: "alert", role: "alert" }, error.message),
    element("nav", {}, again),
  );
}

function reopen(): void {
  open().catch(fail);
}

addEventListener("hashchange", reopen);
reopen();
