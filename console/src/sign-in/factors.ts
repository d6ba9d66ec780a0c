/** The second factors and the passkeys of somebody who has signed in. */
import { encode } from "uqr";
import { send } from "./auth-service.ts";
import { buttonOf, element, formOf } from "./form.ts";
import { hasPasskeys, makePasskey } from "./passkey.ts";
import type { Show } from "./second-step.ts";
import { signInPageTexts as texts } from "./sign-in-page-texts.ts";

interface Factor {
  id: string;
  kind: "totp" | "passkey";
  name?: string;
  usedAt: string;
}

/** The factors of the user. */
export interface Factors {
  factors: readonly Factor[];
  /** How many are left. */
  recoveryCodes: number;
  /** What the service has. */
  kinds: readonly Factor["kind"][];
}

interface Added {
  recoveryCodes?: readonly string[];
}

/** What the factors need of the account. */
export interface FactorParts {
  show: Show;
  /** Says what a button could not do. */
  say: (message: string) => void;
  /** Does something, after a proof if the service wants one. */
  confirmed: (work: () => Promise<void>) => Promise<void>;
  /** Shows the account again. */
  back: (notice: string) => Promise<void>;
}

type Shown = Pick<FactorParts, "show" | "say" | "back">;

/** The factors with their buttons; empty if the service has none. */
export async function factorsPart(parts: FactorParts): Promise<HTMLElement[]> {
  const { say, confirmed, back } = parts;
  const { factors, recoveryCodes, kinds } = await send<Factors>("GET", "_auth/factors");
  const hasApp = factors.some(({ kind }) => kind === "totp");
  const button = (text: string, work: () => Promise<void>) => buttonOf(text, () => confirmed(work), say);
  const rows = factors.map((factor) => {
    const name = factor.name ?? (factor.kind === "totp" ? texts.app : texts.passkey);
    const about = element(
      "div",
      {},
      element("strong", {}, name),
      element("p", { class: "hint" }, new Date(factor.usedAt).toLocaleString()),
    );
    const remove = async () => {
      await send("DELETE", `_auth/factors/${encodeURIComponent(factor.id)}`);
      await back(texts.removed);
    };
    const label = { "aria-label": texts.removeOf(name) };
    return element(
      "li",
      {},
      about,
      buttonOf(texts.remove, () => confirmed(remove), say, label),
    );
  });
  return [
    element("h2", {}, texts.factors),
    element("ul", {}, ...rows),
    ...(hasApp ? [element("p", { class: "hint" }, texts.codesLeft(recoveryCodes))] : []),
    element(
      "div",
      { class: "buttons" },
      ...(kinds.includes("totp")
        ? [button(hasApp ? texts.replaceTotp : texts.addTotp, () => setUpApp(parts))]
        : []),
      ...(kinds.includes("passkey") && hasPasskeys
        ? [button(texts.addPasskey, () => addPasskey(parts))]
        : []),
      ...(hasApp ? [button(texts.renewCodes, () => renewCodes(parts))] : []),
    ),
  ];
}

async function setUpApp(parts: FactorParts): Promise<void> {
  type Begun = { ticket: string; secret: string; uri: string };
  const { ticket, secret, uri } = await send<Begun>("POST", "_auth/factors", { kind: "totp" });
  parts.show(
    texts.addTotp,
    element("p", { class: "lead" }, texts.scan),
    pictureOf(uri),
    element("p", { class: "hint" }, texts.scanAlone),
    element("p", { class: "secret-text" }, (secret.match(/.{1,4}/g) ?? []).join(" ")),
    formOf({
      fields: [
        { name: "totp", label: texts.totp, autocomplete: "one-time-code" },
        { name: "name", label: texts.factorName, isOptional: true },
      ],
      submit: texts.finishTotp,
      work: async (values) => added(parts, await send("POST", "_auth/factors", { ...values, ticket })),
    }),
  );
}

/** Has the user make a passkey, and adds it to the account. */
export async function addPasskey(parts: Shown): Promise<void> {
  type Begun = { ticket: string; options: object };
  const { ticket, options } = await send<Begun>("POST", "_auth/factors", { kind: "passkey" });
  const passkey = await makePasskey(options);
  await added(parts, await send("POST", "_auth/factors", { ticket, passkey }));
}

async function renewCodes(parts: FactorParts): Promise<void> {
  await added(parts, await send("POST", "_auth/recovery-codes", {}));
}

/** Shows recovery codes once, if there are any. */
async function added({ show, back, say }: Shown, { recoveryCodes }: Added): Promise<void> {
  if (recoveryCodes === undefined) return back(texts.added);
  const status = element("p", { role: "status", class: "status" });
  const copy = async () => {
    await navigator.clipboard.writeText(recoveryCodes.join("\n"));
    status.textContent = texts.copied;
  };
  const codes = recoveryCodes.map((code) => element("li", { class: "code" }, code));
  show(
    texts.codesTitle,
    element("p", { class: "lead" }, texts.codesHint),
    element("ul", { class: "codes" }, ...codes),
    status,
    element(
      "div",
      { class: "buttons" },
      buttonOf(texts.copy, copy, say),
      buttonOf(texts.codesSaved, () => back(texts.added), say),
    ),
  );
}

const svg = "http://www.w3.org/2000/svg";

/** A QR code. Its colours are the same in the dark, because cameras need dark on light. */
function pictureOf(text: string): SVGElement {
  const { data, size } = encode(text, { ecc: "M", border: 4 });
  const picture = document.createElementNS(svg, "svg");
  const path = document.createElementNS(svg, "path");
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  path.setAttribute("d", dark.join(""));
  for (const [name, value] of Object.entries({
    viewBox: `0 0 ${size} ${size}`,
    role: "img",
    "aria-label": texts.picture,
    class: "picture",
  }))
    picture.setAttribute(name, value);
  picture.append(path);
  return picture;
}
