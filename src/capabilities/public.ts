/** What capabilities add to the public interface of the package. It loads no other code of them. */
export type {
  Acting,
  CodeCaller,
  CodeMembers,
  HookCall,
  Hooks,
  InsideClient,
  PlainResource,
  Responded,
  Route,
  RouteAccess,
  RouteCall,
  RouteRequest,
} from "./code/public.ts";
export { forbid, refuse, respond, route } from "./code/public.ts";
