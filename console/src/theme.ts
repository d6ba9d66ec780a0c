/** Ten shades of a colour, from the lightest. */
import { createTheme, type MantineColorsTuple } from "@mantine/core";

const shades = (text: string) => text.split(" ") as unknown as MantineColorsTuple;

/** The teal of the logo. Shade 7 has a contrast of 5.5 with white, and its hover is darker. */

const holdfast = shades("#effcf9 #d8f5ee #b0eadf #83dccd #5eccbb #34b3a2 #178f82 #0f766e #115e59 #134e4a");
/** The red of Mantine, but shade 7 has a contrast of 5.5 with white, and its hover is darker. */
const red = shades("#fff5f5 #ffe3e3 #ffc9c9 #ffa8a8 #ff8787 #ff6b6b #fa5252 #c92a2a #b02525 #962020");
const slate = shades("#f7f9fa #eef2f4 #e1e7eb #cbd5db #9fb0bc #74858f #52606d #3a4650 #26313a #17212b");
const dark = shades("#e6ecf0 #b9c5cd #9fb0bc #6c7d88 #3a4853 #2b3740 #1d272f #161e24 #0e1418 #0a0f12");
export const theme = createTheme({
  colors: { holdfast, red, slate, dark },
  primaryColor: "holdfast",
  primaryShade: 7,
  autoContrast: true,
  luminanceThreshold: 0.4,
  defaultRadius: 6,
  fontFamily: '"Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace:
    'ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  fontSizes: { xs: "0.75rem", sm: "0.8125rem", md: "0.875rem", lg: "1rem", xl: "1.25rem" },
  headings: { fontWeight: "600" },
  cursorType: "pointer",
  components: {
    ActionIcon: { defaultProps: { variant: "subtle", color: "gray" } },
    Button: { defaultProps: { size: "xs" } },
    // A menu must not contain anything but its items.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false, position: "bottom-end", shadow: "md" } },
  },
});
