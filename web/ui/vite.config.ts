import { defineConfig } from 'vite'

// The page is one script, one style sheet and one HTML file; file names carry a hash of
// the content. Nothing is inlined, because the content security policy forbids it.
export default defineConfig({
  base: './',
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: true,
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  server: {
    // To work on the page, start a server at this address and run `npm run dev`.
    proxy: Object.fromEntries(['/v1', '/health'].map((p) => [p, { target: 'http://127.0.0.1:8000' }])),
  },
})
