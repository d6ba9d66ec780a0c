/** The whole page: the sidebar, and what the address names. */
import { useHotkeys } from "@mantine/hooks";
import { lazy, useEffect, useState } from "react";
import { AdministrationPage } from "../administration/administration-page.tsx";
import { ListPage } from "../list/list-page.tsx";
import { Loaded } from "../parts/problem.tsx";
import { type Route, useRoute } from "../route.ts";
import { startFollowing } from "../service/live.ts";
import { useSession } from "../service/session.ts";
import { FirstKey, useFirstKeyToken } from "./first-key.tsx";
import { Sidebar } from "./sidebar.tsx";
import { SignIn } from "./sign-in.tsx";
import { Start } from "./start.tsx";

const Palette = lazy(async () => ({ default: (await import("./palette.tsx")).Palette }));

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
  return <Page key={generation} route={route} />;
}

function Page({ route }: { route: Route }) {
  // How often the palette was opened before it was loaded, and with the button.
  const [asked, setAsked] = useState(0);
  const open = () => setAsked((before) => before + 1);
  // Once it is loaded, the palette has this key itself.
  useHotkeys(asked === 0 ? [["mod + K", open]] : []);
  return (
    <div className="app">
      <Sidebar route={route} onFind={open} />
      <Loaded>{asked > 0 && <Palette asked={asked} />}</Loaded>
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
