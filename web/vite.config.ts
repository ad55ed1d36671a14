import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The address of a running `qadra up` that `npm run dev` forwards API calls to.
const server = process.env.QADRA_DEV_SERVER ?? "http://127.0.0.1:8520";

export default defineConfig({
  plugins: [react()],
  build: {
    target: "es2022",
    // Assets stay files: a data: URL would need a wider content security policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 800,
  },
  server: { proxy: { "/api": { target: server, changeOrigin: false } } },
  test: { include: ["src/**/*.test.{ts,tsx}"], environment: "node" },
});
