// The page is built into the server's crate, with names that do not change, so that `cargo build` needs no Node.
import { defineConfig } from "vite";

const server = process.env.CONTEXTREE_SERVER ?? "http://127.0.0.1:8377";

export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: process.env.INSPECTOR_OUT ?? "../crates/server/page",
    emptyOutDir: false,
    assetsInlineLimit: 0,
    modulePreload: false,
    target: "es2022",
    rollupOptions: {
      output: {
        entryFileNames: "inspector.js",
        assetFileNames: ({ names }) => names[0].replace(/^index\.css$/, "inspector.css").replace(/^(inter|jetbrains-mono)-.*\.woff2$/, "$1.woff2"),
        codeSplitting: false,
      },
    },
  },
  server: { proxy: { "/v1": { target: server, changeOrigin: true } } },
});
