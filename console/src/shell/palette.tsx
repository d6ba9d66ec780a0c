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
import { go, pages } from "../route.ts";
import { useIsAdministrator } from "../service/administrator.ts";
import { useCollections } from "../service/collections.ts";
import { recentResources } from "../service/queries.ts";
import { titleOf } from "../service/schema.ts";
import { collectionClient, useSession } from "../service/session.ts";
import { listTexts, texts } from "../texts.ts";
import { signOut } from "./sidebar.tsx";

const size = 17;
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
  const groups: SpotlightActionGroupData[] = [
    {
      group: "Ids",
      actions: found.map(({ collection, id, title }) => ({
        id: `id ${collection}/${id}`,
        label: title ?? listTexts.openId(id, collection),
        description: `${collection}/${id}`,
        keywords: text,
        leftSection: <IconArrowRight size={size} />,
        onClick: () => go({ kind: "resource", collection, query: "", id, tab: "fields" }),
      })),
    },
    {
      group: texts.collections,
      actions: collections.map(({ name, count }) => ({
        id: `collection ${name}`,
        label: name,
        ...(count !== undefined && { description: listTexts.resources(count) }),
        leftSection: <IconDatabase size={size} />,
        onClick: () => go({ kind: "list", collection: name, query: "" }),
      })),
    },
    {
      group: listTexts.recent,
      actions: recentResources().map(({ collection, id }) => ({
        id: `recent ${collection}/${id}`,
        label: `${collection}/${id}`,
        leftSection: <IconHistory size={size} />,
        onClick: () => go({ kind: "resource", collection, query: "", id, tab: "fields" }),
      })),
    },
    {
      group: listTexts.commands,
      actions: [
        ...collections
          .filter(({ operations }) => operations.includes("create"))
          .map(({ name }) => ({
            id: `new ${name}`,
            label: listTexts.newIn(name),
            leftSection: <IconPlus size={size} />,
            onClick: () => go({ kind: "new", collection: name, query: "" }),
          })),
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
        leftSection: <IconSearch size={size} />,
        placeholder: listTexts.palettePlaceholder,
        "aria-label": listTexts.palettePlaceholder,
      }}
    />
  );
}

function useCommands() {
  const { hasCredential } = useSession();
  const isAdministrator = useIsAdministrator();
  const { setColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme() === "dark";
  return [
    ...(isAdministrator === true ? pages : []).map((name) => ({
      id: `page ${name}`,
      label: listTexts.pageNames[name],
      description: texts.administration,
      leftSection: <IconArrowRight size={size} />,
      onClick: () => go({ kind: "page", name }),
    })),
    {
      id: "docs",
      label: listTexts.documentation,
      leftSection: <IconBook size={size} />,
      onClick: () => void open("docs", "_blank", "noreferrer"),
    },
    {
      id: "scheme",
      label: isDark ? texts.light : texts.dark,
      keywords: ["theme", "dark", "light"],
      leftSection: <IconMoon size={size} />,
      onClick: () => setColorScheme(isDark ? "light" : "dark"),
    },
    ...(hasCredential
      ? [
          {
            id: "sign-out",
            label: texts.signOut,
            leftSection: <IconLogout size={size} />,
            onClick: signOut,
          },
        ]
      : []),
  ];
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
