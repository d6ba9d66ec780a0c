/** What capabilities add to the public interface of the package. It loads no other code of them. */
export type {
  CodeCaller,
  CodeMembers,
  ComputedAttribute,
  HookCall,
  Hooks,
  PlainResource,
} from "./code/public.ts";
export { forbid, refuse } from "./code/public.ts";
