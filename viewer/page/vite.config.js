// One script and one style sheet with fixed names: the C code embeds them, and the report writes them into its file.
import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    chunkSizeWarningLimit: 2000,
    rollupOptions: {
      output: {
        format: "iife",
        entryFileNames: "page.js",
        assetFileNames: (asset) => (asset.names?.some((n) => n.endsWith(".css")) ? "page.css" : "[name][extname]"),
      },
    },
  },
});
