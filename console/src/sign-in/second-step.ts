/** The second step of a sign-in or of a confirmation: the code of an app, a passkey, or a recovery code. */
import { send } from "./auth-service.ts";
import { buttonOf, element, type Field, formOf } from "./form.ts";
import { askPasskey, hasPasskeys } from "./passkey.ts";
import { signInPageTexts as texts } from "./sign-in-page-texts.ts";

/** Shows a part of the page. */
export type Show = (heading: string, ...content: (Node | string)[]) => void;

/** The question of the service for the second factor. */
export interface SecondStep {
  next: "secondFactor";
  ticket: string;
  factors: readonly string[];
  /** The options for a passkey. */
  passkey?: object;
}

/** What begins a session, or asks for the second factor first. */
type Begun = SecondStep | { next?: undefined };

/** Sends a proof that begins a session in this browser. If the service asks for the second factor, shows that step. */
export async function prove(
  show: Show,
  { path, proof }: { path: string; proof: object },
  done: () => void | Promise<void>,
): Promise<void> {
  const begun = await send<Begun>("POST", path, { ...proof, cookie: true });
  if (begun.next === "secondFactor") showStep(show, begun, done);
  else await done();
}

/** Sends a proof by a passkey. */
export async function proveByPasskey(
  show: Show,
  path: string,
  done: () => void | Promise<void>,
): Promise<void> {
  const { ticket, options } = await send<{ ticket: string; options: object }>("POST", "_auth/passkey", {});
  await prove(show, { path, proof: { ticket, passkey: await askPasskey(options) } }, done);
}

const totp: Field = {
  name: "totp",
  label: texts.totp,
  autocomplete: "one-time-code",
  hint: texts.totpHint,
};

const recoveryCode: Field = { name: "recoveryCode", label: texts.recoveryCode, hint: texts.recoveryHint };

/** Shows the second step. `field` is what the form asks for. */
export function showStep(
  show: Show,
  step: SecondStep,
  done: () => void | Promise<void>,
  field = step.factors.includes("totp") ? totp : recoveryCode,
): void {
  const { ticket, factors, passkey } = step;
  const finish = async (proof: object) => {
    await send("POST", "_auth/second-factor", { ...proof, ticket, cookie: true });
    await done();
  };
  const fault = element("p", { role: "alert", class: "alert" });
  const say = (message: string) => {
    fault.textContent = message;
  };
  const other = field === totp ? recoveryCode : totp;
  const change = async () => showStep(show, step, done, other);
  show(
    texts.secondFactor,
    ...(factors.includes(field.name)
      ? [formOf({ fields: [field], submit: texts.goOnButton, work: finish })]
      : []),
    fault,
    element(
      "div",
      { class: "buttons" },
      ...(passkey !== undefined && hasPasskeys
        ? [buttonOf(texts.usePasskey, async () => finish({ passkey: await askPasskey(passkey) }), say)]
        : []),
      ...(factors.includes(other.name)
        ? [buttonOf(other === totp ? texts.useTotp : texts.useRecoveryCode, change, say)]
        : []),
      buttonOf(texts.startAgain, async () => location.reload(), say),
    ),
  );
}
