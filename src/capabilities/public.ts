/** What capabilities add to the public interface of the package. It loads no other code of them. */
export type { ChangeEvent, CodeCaller, CodeMembers, Consumer, ConsumerCall, HookCall, Hooks, PlainResource } from "./code/public.ts";
export { forbid, refuse } from "./code/public.ts";
