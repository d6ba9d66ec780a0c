/** Numbers as users write them. The service stores binary64, so a number that would become another one is refused here. */

/** Why a text is not a number that can be stored as written; `undefined` if it can. */
export function numberProblem(text: string): string | undefined {
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text))
    return "Write a number, such as 12 or 0.5.";
  const value = Number(text);
  if (!Number.isFinite(value)) return `${text} is too large.`;
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21)
    return `${text} is beyond 2^53 − 1. The service refuses it, because programs would round it. Send it as a text.`;
  if (canonical(text) !== canonical(String(value)))
    return `${text} has more digits than a number can keep. It would become ${value}.`;
  return undefined;
}

/** The digits and the exponent of a number, in one form. `1.0`, `1` and `10e-1` are equal. */
function canonical(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const kept = digits.replace(/0+$/, "");
  if (kept === "") return "0";
  return `${sign}${kept}e${Number(exponent) - fraction.length + (digits.length - kept.length)}`;
}
