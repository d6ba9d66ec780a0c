/** JSON Merge Patch (RFC 7396). */
import { isObject } from "./gate.ts";
import { beyondLimits, type JsonLimits } from "./limits.ts";
import { setMember } from "./members.ts";

/**
 * The value that a merge patch makes of a target, which stays as it is. The result is no deeper than the deeper of
 * the two, but may have more members: throws BODY_TOO_DEEP when they are too many for one object.
 */
export function applyMergePatch(target: unknown, patch: unknown, limits: JsonLimits): unknown {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = {};
  if (isObject(target)) {
    for (const name of Object.keys(target)) {
      if (!Object.hasOwn(patch, name)) setMember(result, name, target[name]);
      else if (patch[name] !== null)
        setMember(result, name, applyMergePatch(target[name], patch[name], limits));
    }
  }
  for (const name of Object.keys(patch)) {
    if (patch[name] === null || Object.hasOwn(result, name)) continue;
    setMember(result, name, applyMergePatch(undefined, patch[name], limits));
  }
  if (Object.keys(result).length > limits.members) throw beyondLimits(limits);
  return result;
}
