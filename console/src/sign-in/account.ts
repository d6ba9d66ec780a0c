/** The account of somebody who has signed in: profile, address, password, factors, sessions, sign-out. */
import { agentName } from "./agent-name.ts";
import { type OwnSession, Refusal, send, type Ways } from "./auth-service.ts";
import { factorsPart } from "./factors.ts";
import { buttonOf, element, type Field, formOf } from "./form.ts";
import { identitiesPart, linkWaiting } from "./identities.ts";
import { hasPasskeys } from "./passkey.ts";
import { profilePart } from "./profile.ts";
import { prove, proveByPasskey, type Show } from "./second-step.ts";
import { signInPageTexts as texts } from "./sign-in-page-texts.ts";

/** What the account needs of the page. */
export interface AccountParts {
  show: Show;
  user: NonNullable<Ways["user"]>;
  methods: readonly string[];
  providers: NonNullable<Ways["providers"]>;
  /** Whether the session can do nothing before the user has set up a second factor. */
  mustAddFactor: boolean;
  /** Where the page was asked to return to. */
  target: string | undefined;
  /** Called after the sign-out. */
  leave(): void;
  /** Goes where the page was asked to return to. */
  goOn(): void;
}

/** Shows the account. `notice` says what has just happened. */
export async function showAccount(parts: AccountParts, notice = ""): Promise<void> {
  const { show, user, methods, providers, target, leave } = parts;
  if (parts.mustAddFactor) return showSetUp(parts, notice);
  const status = element("p", { role: "status", class: "status" }, notice);
  const say = (message: string) => {
    status.textContent = message;
  };
  const own = {
    ...parts,
    say,
    confirmed: (work: () => Promise<void>) => confirmed(parts, work),
    back: (message: string) => showAccount(parts, message),
  };
  const [{ sessions }, profile, factors, identities] = await Promise.all([
    send<{ sessions: readonly OwnSession[] }>("GET", "_auth/sessions"),
    profilePart(user.id, own.back),
    withoutIfMissing(factorsPart(own)),
    providers.length > 0 ? identitiesPart(own) : [],
  ]);
  const end = ({ id }: OwnSession) =>
    confirmed(parts, async () => {
      await send("DELETE", `_auth/sessions/${encodeURIComponent(id)}`);
      await showAccount(parts, texts.ended);
    });
  const signOut = async (everywhere: boolean) => {
    await send("POST", "_auth/sign-out", { everywhere });
    leave();
  };
  show(
    texts.account,
    element("p", { class: "lead" }, user.email),
    status,
    ...(target === undefined ? [] : [element("a", { href: target, class: "main" }, texts.goOn)]),
    ...profile,
    element("h2", {}, texts.sessions),
    element("ul", {}, ...sessions.map((session) => sessionRow(session, () => end(session), say))),
    ...(methods.includes("password") ? [element("h2", {}, texts.changePassword), passwordForm(parts)] : []),
    ...factors,
    ...identities,
    element("h2", {}, texts.address),
    addressForm(parts),
    element(
      "div",
      { class: "buttons" },
      buttonOf(texts.signOut, () => signOut(false), say),
      buttonOf(texts.everywhere, () => signOut(true), say),
    ),
  );
}

function sessionRow(
  session: OwnSession,
  end: () => Promise<void>,
  say: (message: string) => void,
): HTMLElement {
  const { agent, network, usedAt, current, name: ofKey } = session;
  const other = ofKey === undefined ? agentName(agent) || texts.unknownAgent : texts.programKey(ofKey);
  const name = current ? texts.thisSession : other;
  const used = texts.used(new Date(usedAt).toLocaleString(), network);
  const about = element(
    "div",
    { title: agent },
    element("strong", {}, name),
    element("p", { class: "hint" }, used),
  );
  const [text, label] =
    ofKey === undefined ? [texts.end, texts.endOf(name)] : [texts.remove, texts.removeOf(name)];
  const button = buttonOf(text, end, say, { "aria-label": label });
  return element("li", {}, about, ...(current ? [] : [button]));
}

function userField({ email }: AccountParts["user"]): Field {
  return {
    name: "email",
    label: texts.email,
    type: "email",
    autocomplete: "username",
    value: email,
    isReadOnly: true,
  };
}

function passwordForm(parts: AccountParts): HTMLFormElement {
  const password: Field = {
    name: "password",
    label: texts.newPassword,
    type: "password",
    autocomplete: "new-password",
    hint: texts.passwordHint,
  };
  return formOf({
    // A password manager needs the name of the user beside the password.
    fields: [userField(parts.user), password],
    submit: texts.changePassword,
    work: ({ password: chosen }) =>
      confirmed(parts, async () => {
        await send("POST", "_auth/password", { password: chosen, cookie: true });
        await showAccount(parts, texts.changed);
      }),
  });
}

function addressForm(parts: AccountParts): HTMLFormElement {
  const code: Field = { name: "code", label: texts.code, autocomplete: "one-time-code" };
  return formOf({
    fields: [{ name: "email", label: texts.newAddress, type: "email", autocomplete: "email" }],
    submit: texts.changeAddress,
    work: ({ email }) =>
      confirmed(parts, async () => {
        const { ticket } = await send<{ ticket: string }>("POST", "_auth/email", { email });
        parts.show(
          texts.changeAddress,
          element("p", { class: "lead" }, texts.mailed(String(email))),
          formOf({
            fields: [code],
            submit: texts.changeAddress,
            work: async (values) => {
              await send("POST", "_auth/email", { ...values, ticket, cookie: true });
              const user = { ...parts.user, email: String(email) };
              await showAccount({ ...parts, user }, texts.addressChanged);
            },
          }),
        );
      }),
  });
}

/** What a service that does not have it leaves out. */
async function withoutIfMissing(part: Promise<Node[]>): Promise<Node[]> {
  return part.catch((error: unknown) => {
    if (error instanceof Refusal && error.status === 404) return [];
    throw error;
  });
}

/** Shows what a session that can do nothing else needs first. */
async function showSetUp(parts: AccountParts, notice: string): Promise<void> {
  const status = element("p", { role: "status", class: "status" }, notice);
  const say = (message: string) => {
    status.textContent = message;
  };
  const factors = await factorsPart({
    show: parts.show,
    say,
    confirmed: (work) => confirmed(parts, work),
    back: async (message) => {
      if (message === texts.added) parts.goOn();
      else await showAccount(parts, message);
    },
  });
  const signOut = async () => {
    await send("POST", "_auth/sign-out", {});
    parts.leave();
  };
  parts.show(
    texts.account,
    element("p", { class: "lead" }, texts.mustAdd),
    status,
    ...factors,
    element("div", { class: "buttons" }, buttonOf(texts.signOut, signOut, say)),
  );
}

/** Links the identity with which this browser has come from a provider, and shows the account. */
export function linkAndShow(parts: AccountParts): Promise<void> {
  return confirmed(parts, async () => showAccount(parts, (await linkWaiting(parts.providers)).message));
}

/** Does something. If the service wants a proof first, asks for it, and does it again. */
export async function confirmed(parts: AccountParts, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "CONFIRMATION_REQUIRED") throw error;
    if (parts.methods.includes("password")) askForPassword(parts, work);
    else if (parts.methods.includes("email")) await askForCode(parts, work);
    else throw error;
  }
}

function askForPassword(parts: AccountParts, work: () => Promise<void>): void {
  const password: Field = {
    name: "password",
    label: texts.currentPassword,
    type: "password",
    autocomplete: "current-password",
  };
  const fault = element("p", { role: "alert", class: "alert" });
  const say = (message: string) => {
    fault.textContent = message;
  };
  const byCode = buttonOf(texts.confirmByCode, () => askForCode(parts, work), say);
  const withKey = () => proveByPasskey(parts.show, "_auth/confirm", () => afterProof(parts, work));
  const byPasskey = buttonOf(texts.usePasskey, withKey, say);
  parts.show(
    texts.confirm,
    element("p", { class: "lead" }, texts.confirmHint),
    formOf({
      fields: [userField(parts.user), password],
      submit: texts.confirmButton,
      work: ({ password: given }) => confirm({ password: given }, parts, work),
    }),
    fault,
    ...(parts.methods.includes("email") ? [byCode] : []),
    ...(parts.methods.includes("passkey") && hasPasskeys ? [byPasskey] : []),
  );
}

async function askForCode(parts: AccountParts, work: () => Promise<void>): Promise<void> {
  const { email } = parts.user;
  const { ticket } = await send<{ ticket: string }>("POST", "_auth/code", { email });
  parts.show(
    texts.confirm,
    element("p", { class: "lead" }, texts.mailed(email)),
    formOf({
      fields: [{ name: "code", label: texts.code, autocomplete: "one-time-code" }],
      submit: texts.confirmButton,
      work: ({ code }) => confirm({ ticket, code }, parts, work),
    }),
  );
}

async function confirm(proof: object, parts: AccountParts, work: () => Promise<void>): Promise<void> {
  await prove(parts.show, { path: "_auth/confirm", proof }, () => afterProof(parts, work));
}

async function afterProof(parts: AccountParts, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    // The form of the proof is done. What is wrong belongs to the change.
    await showAccount(parts, (error as Error).message);
  }
}
