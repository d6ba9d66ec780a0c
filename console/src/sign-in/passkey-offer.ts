/** The offer of a passkey after a sign-in. */
import { type AccountParts, confirmed } from "./account.ts";
import { send } from "./auth-service.ts";
import { addPasskey, type Factors } from "./factors.ts";
import { buttonOf, element } from "./form.ts";
import { canMakePasskey } from "./passkey.ts";
import { signInPageTexts as texts } from "./sign-in-page-texts.ts";

/** Where this browser keeps the id of the user who wants no passkey. */
const declinedKey = "holdfast.no-passkey";

/** Whether a user who has just signed in gets the offer: once in this browser, and only without a passkey. */
export async function isPasskeyOffered({ user, methods }: AccountParts): Promise<boolean> {
  if (!methods.includes("passkey") || localStorage.getItem(declinedKey) === user.id) return false;
  if (!(await canMakePasskey())) return false;
  const { factors } = await send<Factors>("GET", "_auth/factors");
  return factors.every(({ kind }) => kind !== "passkey");
}

/** Offers a passkey. `next` goes on, with what to tell the user. */
export function offerPasskey(parts: AccountParts, next: (notice: string) => void): void {
  const { show, user } = parts;
  const fault = element("p", { role: "alert", class: "alert" });
  const say = (message: string) => {
    fault.textContent = message;
  };
  const decline = async () => {
    localStorage.setItem(declinedKey, user.id);
    next("");
  };
  const add = () => addPasskey({ show, say, back: async (notice) => next(notice) });
  show(
    texts.offer,
    element("p", { class: "lead" }, texts.offerHint),
    fault,
    element(
      "div",
      { class: "others" },
      buttonOf(texts.addPasskey, () => confirmed(parts, add), say, { class: "main" }),
      buttonOf(texts.notNow, decline, say),
    ),
  );
}
