/** JSON Merge Patch (RFC 7396). */
import { beyondLimits, isObject, type JsonLimits, setMember } from "./values.ts";

/**
 * Applies a merge patch. Does not change the target. The result is not deeper than the target or the patch, but can have
 * more members: throws BODY_TOO_DEEP if one object has too many.
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
