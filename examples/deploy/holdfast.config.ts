/** A service for containers and proxies, with API keys. Run: docker compose -f examples/deploy/compose.yaml up */
import { defineConfig } from "holdfast";

export default defineConfig({
  auth: { keys: true },
  collections: { articles: {} },
});
