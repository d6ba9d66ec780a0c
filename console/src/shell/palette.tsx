/** Goes to collections, pages and ids, and has commands. Opens with Ctrl-K or Cmd-K. */
import { useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { openSpotlight, Spotlight, type SpotlightActionGroupData } from "@mantine/spotlight";
import {
  IconArrowRight,
  IconBook,
  IconDatabase,
  IconHistory,
  IconLogout,
  IconMoon,
  IconPlus,
  IconSearch,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { CollectionDetails } from "holdfast-client";
import { useEffect, useState } from "react";
import { go } from "../route.ts";
import { useIsSignedIn, useServedPages } from "../service/administrator.ts";
import { useCollections } from "../service/collections.ts";
import { recentResources } from "../service/queries.ts";
import { titleOf } from "../service/schema.ts";
import { collectionClient } from "../service/session.ts";
import { listTexts, texts } from "../texts.ts";
import { signOut } from "./sidebar.tsx";

/** The most collections in which an id is looked up. */
const mostLookedUp = 20;

/** Opens when it appears, and each time that `asked` changes. */
export function Palette({ asked }: { asked: number }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: each number opens it
  useEffect(openSpotlight, [asked]);
  const [text, setText] = useState("");
  const [settled] = useDebouncedValue(text.trim(), 200);
  const { data: collections = [] } = useCollections();
  const found = useId(settled, collections);
  const own = useCommands();
  const show = (collection: string, id: string) => () =>
    go({ kind: "resource", collection, query: "", id, tab: "fields" });
  const groups: SpotlightActionGroupData[] = [
    {
      group: "Ids",
      actions: found.map(({ collection, id, title }) => ({
        ...action(
          `id ${collection}/${id}`,
          title ?? listTexts.openId(id, collection),
          IconArrowRight,
          show(collection, id),
        ),
        description: `${collection}/${id}`,
        keywords: text,
      })),
    },
    {
      group: texts.collections,
      actions: collections.map(({ name, count }) => ({
        ...action(`collection ${name}`, name, IconDatabase, () =>
          go({ kind: "list", collection: name, query: "" }),
        ),
        ...(count !== undefined && { description: listTexts.resources(count) }),
      })),
    },
    {
      group: listTexts.recent,
      actions: recentResources().map(({ collection, id }) => {
        const path = `${collection}/${id}`;
        return action(`recent ${path}`, path, IconHistory, show(collection, id));
      }),
    },
    {
      group: listTexts.commands,
      actions: [
        ...collections
          .filter(({ operations }) => operations.includes("create"))
          .map(({ name }) => {
            const create = () => go({ kind: "new", collection: name, query: "" });
            return action(`new ${name}`, listTexts.newIn(name), IconPlus, create);
          }),
        ...own,
      ],
    },
  ];
  return (
    <Spotlight
      title={listTexts.palettePlaceholder}
      classNames={{ header: "sr-only" }}
      actions={groups.filter(({ actions }) => actions.length > 0)}
      shortcut={["mod + K"]}
      query={text}
      onQueryChange={setText}
      nothingFound={listTexts.nothingNamed}
      overlayProps={{ blur: 0, backgroundOpacity: 0.45 }}
      radius={12}
      limit={40}
      scrollable
      maxHeight={420}
      clearQueryOnClose
      searchProps={{
        leftSection: <IconSearch size={17} />,
        placeholder: listTexts.palettePlaceholder,
        "aria-label": listTexts.palettePlaceholder,
      }}
    />
  );
}

function useCommands() {
  const canSignOut = useIsSignedIn();
  const servedPages = useServedPages();
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme() === "dark";
  const openDocs = () => void open("docs", "_blank", "noreferrer");
  const turn = () => setColorScheme(isDark ? "light" : "dark");
  return [
    ...servedPages.map((name) => ({
      ...action(`page ${name}`, listTexts.pageNames[name], IconArrowRight, () => go({ kind: "page", name })),
      description: texts.administration,
    })),
    action("docs", listTexts.documentation, IconBook, openDocs),
    {
      ...action("scheme", isDark ? texts.light : texts.dark, IconMoon, turn),
      keywords: ["theme", "dark", "light"],
    },
    ...(canSignOut ? [action("sign-out", texts.signOut, IconLogout, signOut)] : []),
  ];
}

function action(id: string, label: string, Icon: typeof IconMoon, onClick: () => void) {
  return { id, label, leftSection: <Icon size={17} />, onClick };
}

interface Found {
  collection: string;
  id: string;
  title: string | undefined;
}

/** The resources whose id is a text that can be one. */
function useId(text: string, collections: readonly CollectionDetails[]): Found[] {
  const isId =
    /^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(text) || /^\d{1,16}$/.test(text) || /^\S*\d\S{5,}$/.test(text);
  const names = collections.slice(0, mostLookedUp).map(({ name }) => name);
  const { data = [] } = useQuery({
    queryKey: ["id", text, names.join()],
    enabled: isId,
    throwOnError: false,
    queryFn: async ({ signal }) => {
      const all = await Promise.all(
        names.map(async (collection): Promise<Found[]> => {
          try {
            const resource = await collectionClient(collection).get(text, { signal });
            return [{ collection, id: text, title: titleOf(resource as Record<string, unknown>) }];
          } catch {
            return [];
          }
        }),
      );
      return all.flat();
    },
  });
  return isId ? data : [];
}
