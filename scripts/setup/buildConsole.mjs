// @ts-check
/**
 * node scripts/setup/buildConsole.mjs <emulators | production> <folder> <region> <database> [address] [web push key]
 *
 * Builds the console into a folder for Firebase Hosting. This is a separate program, because Vite needs a newer Node
 * than the machine may have.
 */
import { build } from 'vite';
import { root } from '../project.mjs';

const [mode = '', target = '', region = '', database = '', address = '', webPushKey = ''] = process.argv.slice(2);
if (!['emulators', 'production'].includes(mode) || [target, region, database].includes('')) {
  process.stderr.write(
    'node scripts/setup/buildConsole.mjs <emulators | production> <folder> <region> <database> [address] [web push key]\n',
  );
  process.exit(2);
}

const console = `${root}/console`;

/** Address of the settings that console/src/deployment.ts reads. */
const SETTINGS = mode === 'emulators' ? '/emulators.json' : '/__/firebase/init.json';

/** Services that the page of a deployment calls first. Opening their connections takes several round trips. */
const SERVICES = mode === 'emulators' ? [] : ['identitytoolkit', 'firestore'];

/**
 * Lets the browser load what the page needs next while the page's first script still loads. Without these hints, a
 * signed-in person waits for several requests in a row.
 * @type {import('vite').Plugin}
 */
const hints = {
  name: 'hints',
  transformIndexHtml: {
    order: 'post',
    handler: (_page, { bundle = {} }) => {
      const files = ['rolldown-runtime', 'shell', 'firestore'].map((name) =>
        Object.values(bundle).find((file) => file.name === name),
      );
      const attributes = [
        { rel: 'preload', as: 'fetch', href: SETTINGS },
        ...SERVICES.map((name) => ({ rel: 'preconnect', href: `https://${name}.googleapis.com` })),
        ...files.map((file) => ({ rel: 'modulepreload', fetchpriority: 'low', href: `/${file?.fileName}` })),
      ];
      return attributes.map((attrs) => ({ tag: 'link', attrs: { ...attrs, crossorigin: true }, injectTo: 'head' }));
    },
  },
};

await build({
  configFile: false,
  root: console,
  mode,
  logLevel: 'warn',
  define: {
    __REGION__: JSON.stringify(region),
    __DATABASE_ID__: JSON.stringify(database),
    __ADDRESS__: JSON.stringify(address),
    __WEB_PUSH_KEY__: JSON.stringify(webPushKey),
  },
  resolve: {
    alias: {
      // Removes the code for pipelines, which the page does not use. This code is a third of Firestore's SDK.
      re2js: `${console}/src/live/noRegularExpressions.ts`,
      // Node.js loads this form, too. The other form has no default export.
      rrule: 'rrule/dist/es5/rrule.js',
    },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [hints],
  worker: { format: 'es' },
  build: {
    outDir: target,
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0, // the page's policy forbids inline assets
    modulePreload: { polyfill: false },
    // Modules that the console shares with the server only declare values, so what is unused can be left out.
    rolldownOptions: {
      treeshake: { moduleSideEffects: [{ test: /\/functions\/src\//, sideEffects: false }] },
      // Small modules that every page loads: in separate files, they would compress worse.
      output: {
        codeSplitting: {
          groups: [
            { name: 'start', test: /\/console\/src\/main\.tsx$/, priority: 2 },
            { name: 'shell', test: /\/console\/src\/shell\/Shell\.tsx$/, priority: 1 },
          ],
        },
      },
    },
    reportCompressedSize: false,
    manifest: true, // for tests of loading; not uploaded to Hosting
  },
});

// The service worker has a fixed address, and is one file, because not all browsers allow imports in it.
await build({
  configFile: false,
  root: console,
  logLevel: 'warn',
  publicDir: false,
  build: {
    outDir: target,
    emptyOutDir: false,
    target: 'es2022',
    reportCompressedSize: false,
    rolldownOptions: { input: `${console}/worker/push.ts`, output: { format: 'iife', entryFileNames: 'push.js' } },
  },
});
