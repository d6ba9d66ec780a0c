/** What capabilities add to the public interface of the package. It loads no other code of them. */
export type { CodeCaller, CodeMembers, HookCall, Hooks, PlainResource } from "./code/public.ts";
export { forbid, refuse } from "./code/public.ts";
export { respond } from "./code/routes/respond.ts";
export {
  type InsideClient,
  type Route,
  type RouteAccess,
  type RouteCall,
  type RouteOptions,
  type RouteRequest,
  route,
} from "./code/routes/route.ts";
export type { Acting } from "./code/work/acting.ts";
