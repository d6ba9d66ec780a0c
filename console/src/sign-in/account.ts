/** The account of somebody who has signed in: sessions, password, sign-out. */
import { type OwnSession, Refusal, send, type Ways } from "./auth-service.ts";
import { buttonOf, element, type Field, formOf } from "./form.ts";
import { signInPageTexts as texts } from "./sign-in-page-texts.ts";

/** What the account needs of the page. */
export interface AccountParts {
  show(heading: string, ...content: (Node | string)[]): void;
  user: NonNullable<Ways["user"]>;
  methods: readonly string[];
  /** Where the page was asked to return to. */
  target: string | undefined;
  /** Called after the sign-out. */
  leave(): void;
}

/** Shows the account. `notice` says what has just happened. */
export async function showAccount(parts: AccountParts, notice = ""): Promise<void> {
  const { show, user, methods, target, leave } = parts;
  const { sessions } = await send<{ sessions: readonly OwnSession[] }>("GET", "_auth/sessions");
  const status = element("p", { role: "status", class: "status" }, notice);
  const say = (message: string) => {
    status.textContent = message;
  };
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
    element("h2", {}, texts.sessions),
    element("ul", {}, ...sessions.map((session) => sessionRow(session, () => end(session), say))),
    ...(methods.includes("password") ? [element("h2", {}, texts.changePassword), passwordForm(parts)] : []),
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
  const { agent, network, usedAt, current } = session;
  const name = current ? texts.thisSession : agent || texts.unknownAgent;
  const used = texts.used(new Date(usedAt).toLocaleString(), network);
  const about = element("div", {}, element("strong", {}, name), element("p", { class: "hint" }, used));
  const button = buttonOf(texts.end, end, say, { "aria-label": texts.endOf(name) });
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

/** Does something. If the service wants a proof first, asks for it, and does it again. */
async function confirmed(parts: AccountParts, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== "CONFIRMATION_REQUIRED") throw error;
    if (parts.methods.includes("password")) askForPassword(parts, work);
    else await askForCode(parts, work);
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
  const byCode = buttonOf(
    texts.confirmByCode,
    () => askForCode(parts, work),
    (message) => {
      fault.textContent = message;
    },
  );
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
  await send("POST", "_auth/confirm", { ...proof, cookie: true });
  try {
    await work();
  } catch (error) {
    // The form of the proof is done. What is wrong belongs to the change.
    await showAccount(parts, (error as Error).message);
  }
}
