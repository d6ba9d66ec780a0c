/** The whole page: the sidebar, and what the address names. */
import { useEffect } from "react";
import { AdministrationPage } from "../administration/administration-page.tsx";
import { ListPage } from "../list/list-page.tsx";
import { type Route, useRoute } from "../route.ts";
import { startFollowing } from "../service/live.ts";
import { useSession } from "../service/session.ts";
import { FirstKey, useFirstKeyToken } from "./first-key.tsx";
import { Palette } from "./palette.tsx";
import { Sidebar } from "./sidebar.tsx";
import { SignIn } from "./sign-in.tsx";
import { Start } from "./start.tsx";

export function App() {
  const { isRefused, generation } = useSession();
  const route = useRoute();
  const token = useFirstKeyToken();
  const isOpen = !isRefused && token === undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another credential sees other changes
  useEffect(() => {
    if (isOpen) void startFollowing();
  }, [isOpen, generation]);
  if (token !== undefined) return <FirstKey token={token} />;
  if (isRefused) return <SignIn />;
  return (
    <div className="app" key={generation}>
      <Sidebar route={route} />
      <Palette />
      <main className="main" tabIndex={-1}>
        <Content route={route} />
      </main>
    </div>
  );
}

function Content({ route }: { route: Route }) {
  if (route.kind === "start") return <Start />;
  if (route.kind === "page") return <AdministrationPage key={route.name} name={route.name} />;
  return <ListPage key={route.collection} route={route} />;
}
