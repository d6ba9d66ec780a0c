import "./mantine-styles.ts";
import "@mantine/notifications/styles.css";
import "@mantine/spotlight/styles.css";
import "@fontsource-variable/inter";
import "./shared.css";
import "./style.css";
import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { setNonce } from "get-nonce";
import { createRoot } from "react-dom/client";
import { Failures, logFailure } from "./parts/problem.tsx";
import { queries } from "./service/queries.ts";
import { nonce } from "./service/session.ts";
import { App } from "./shell/app.tsx";
import { theme } from "./theme.ts";

// Mantine's dialogs stop the page from scrolling with a style of another package, which reads the nonce here.
setNonce(nonce);

const root = document.getElementById("root") as HTMLElement;

createRoot(root, { onCaughtError: logFailure }).render(
  <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
    <Failures>
      {/* On the left, because the buttons of a panel are on the right. */}
      <Notifications position="bottom-left" />
      <QueryClientProvider client={queries}>
        <App />
      </QueryClientProvider>
    </Failures>
  </MantineProvider>,
);
