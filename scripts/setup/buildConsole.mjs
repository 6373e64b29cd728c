// @ts-check
/**
 * node scripts/setup/buildConsole.mjs <emulators | production> <folder> <region> <database> [address]
 *
 * Builds the console into a folder for Firebase Hosting. This is a separate program, because Vite needs a newer Node
 * than the machine may have.
 */
import { build } from 'vite';
import { root } from '../project.mjs';

const [mode = '', target = '', region = '', database = '', address = ''] = process.argv.slice(2);
if (!['emulators', 'production'].includes(mode) || [target, region, database].includes('')) {
  process.stderr.write(
    'node scripts/setup/buildConsole.mjs <emulators | production> <folder> <region> <database> [address]\n',
  );
  process.exit(2);
}

const console = `${root}/console`;

await build({
  configFile: false,
  root: console,
  mode,
  logLevel: 'warn',
  define: {
    __REGION__: JSON.stringify(region),
    __DATABASE_ID__: JSON.stringify(database),
    __ADDRESS__: JSON.stringify(address),
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
  worker: { format: 'es' },
  build: {
    outDir: target,
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0, // the page's policy forbids inline assets
    modulePreload: { polyfill: false },
    // Modules that the console shares with the server only declare values, so what is unused can be left out.
    rolldownOptions: { treeshake: { moduleSideEffects: [{ test: /\/functions\/src\//, sideEffects: false }] } },
    reportCompressedSize: false,
    manifest: true, // for tests of loading; not uploaded to Hosting
  },
});
