/** The error of a wrong proof. */
import { realm } from "../../access/challenges.ts";
import { Problem } from "../../errors.ts";

/** Every wrong proof of a sign-in has this one error, so that nobody learns which addresses have accounts. */
export function signInFailed(): Problem {
  return new Problem(
    "SIGN_IN_FAILED",
    "The address, the password or the code is wrong, or the code has expired.",
    { headers: { "www-authenticate": realm } },
  );
}
