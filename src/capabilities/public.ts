/** What capabilities add to the public interface of the package. It loads no other code of them. */
export type {
  Acting,
  ChangeEvent,
  CodeCaller,
  CodeMembers,
  ComputedAttribute,
  Consumer,
  ConsumerCall,
  HookCall,
  Hooks,
  InsideClient,
  Job,
  JobCall,
  JobClients,
  PlainResource,
  ProblemCode,
  Responded,
  Route,
  RouteAccess,
  RouteCall,
  RouteRequest,
} from "./code/public.ts";
export { collection, forbid, isProblem, job, refuse, respond, route } from "./code/public.ts";
