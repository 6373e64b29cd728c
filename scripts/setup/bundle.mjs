// @ts-check
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { root } from '../project.mjs';
import { modelsFile } from './models.mjs';

/**
 * Code that defines variables that CommonJS packages expect but ECMAScript modules do not have. Source:
 * https://github.com/evanw/esbuild/issues/1944
 */
const commonJs = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { fileURLToPath as __fileURLToPath } from 'node:url';",
  'const require = __createRequire(import.meta.url);',
  'const __filename = __fileURLToPath(import.meta.url);',
  "const __dirname = __fileURLToPath(new URL('.', import.meta.url));",
].join('');

/** Google's classes of messages. Firestore reads one of them when it is loaded, and uses none without pipelines. */
const noMessages = 'module.exports = { google: { firestore: { v1: {} } } };';
const unusedClients = 'exports.LocationsClient = exports.IamClient = class { async close() {} };';

/**
 * Modules that packages load although the functions never use them, and their replacements.
 * @type {readonly (readonly [RegExp, string])[]}
 */
const unused = [
  [/\/(firestore-api|google-gax|firestore)\/build\/protos\/\w+\.js$/, noMessages],
  [/\/firestore-api\/build\/src\/v1\/firestore_admin_client\.js$/, 'module.exports = {};'],
  // Google's clients create and close one client for locations and one for permissions.
  [/\/google-gax\/build\/src\/(location|iam)Service\.js$/, unusedClients],
  [/\/google-gax\/build\/src\/operationsClient\.js$/, 'module.exports = {};'],
  // The validator of forms that the MCP SDK sends to people. Muster sends its questions itself.
  [
    /\/server\/dist\/shimsNode\.mjs$/,
    "export { default as process } from 'node:process'; export class DefaultJsonSchemaValidator {}",
  ],
  // Translations of zod's messages.
  [/\/zod\/v4\/locales\/index\.js$/, 'export {};'],
];

/**
 * Makes cold starts faster: replaces unused modules, and loads code on first use. A replaced module that a package
 * uses after all causes an error that names the missing member.
 * @type {import('esbuild').Plugin}
 */
const lighter = {
  name: 'lighter',
  setup({ onLoad, onResolve }) {
    for (const [filter, contents] of unused) onLoad({ filter }, () => ({ contents }));
    // The client encodes the descriptor of each message when it connects. It needs only those of data.
    onLoad({ filter: /\/firestore-api\/build\/protos\/protos\.json$/ }, ({ path }) => {
      const { firestore, protobuf, rpc, type } = JSON.parse(readFileSync(path, 'utf8')).nested.google.nested;
      const nested = { firestore: { nested: { v1: firestore.nested.v1 } }, protobuf, rpc, type };
      return { contents: JSON.stringify({ nested: { google: { nested } } }), loader: 'json' };
    });
    // An import statement reads all exports of node:http, and one of them loads the code of WebSocket and fetch.
    onResolve({ filter: /^node:http$/ }, ({ path }) => ({ path, namespace: 'builtin' }));
    onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}');`,
    }));
    // Merely looking at the global WebSocket loads the code of WebSocket and fetch. The client uses its own sockets.
    onLoad({ filter: /\/database-compat\/dist\/index\.standalone\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replace("typeof WebSocket !== 'undefined'", 'false'),
    }));
    // Only callable functions check tokens. Muster has none.
    onLoad({ filter: /\/firebase-functions\/lib\/esm\/common\/providers\/https\.mjs$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8')
        .replace(/^import \{ (getAuth|getAppCheck) \} from .*$/gm, '')
        .replace(/^import \{ getApp \} from .*$/m, '')
        .replaceAll('getApp(', "(await import('../app.mjs')).getApp(")
        .replaceAll('getAuth(', "(await import('firebase-admin/auth')).getAuth(")
        .replaceAll('getAppCheck(', "(await import('firebase-admin/app-check')).getAppCheck("),
    }));
    // The clients of Firestore and Google Cloud are needed only when a trigger gets its first event.
    onLoad({ filter: /\/firebase-functions\/lib\/esm\/v2\/providers\/firestore\.mjs$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8')
        .replace(
          /^import \{(.*)\} from ("[./]+\/common\/providers\/firestore\.mjs");$/m,
          'let $1; const load = async () => { ({$1} = await import($2)); };',
        )
        .replaceAll('const func = (raw) => {', 'const func = async (raw) => { await load();'),
    }));
  },
};

/**
 * Bundles the hosted agents of the project that is deployed.
 * @type {import('esbuild').Plugin}
 */
const projectModels = {
  name: 'project-models',
  setup({ onLoad }) {
    onLoad({ filter: /\/functions\/models\.json$/ }, () => {
      const file = modelsFile(process.env['GCLOUD_PROJECT']);
      return { contents: readFileSync(`${root}/functions/${file}`, 'utf8'), loader: 'json' };
    });
  },
};

/**
 * Bundles the compiled functions and their packages into a few files, because reading 1,500 files took most of the
 * time of a cold start. Names are kept, so that stack traces are readable. Dynamic imports become separate files.
 * firebase-functions stores parameters per process, so Firebase's own copy of it finds the parameters of the bundle.
 * @param {string} entry @param {string} target a folder
 */
export async function bundle(entry, target) {
  const { build, stop } = await import('esbuild'); // not yet installed when a fresh clone loads this file
  await build({
    absWorkingDir: root,
    entryPoints: { index: entry },
    outdir: target,
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'esm',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 200, // shortens the minified lines that an uncaught error prints
    legalComments: 'linked',
    banner: { js: commonJs },
    plugins: [lighter, projectModels],
    logLevel: 'warning',
  });
  await stop(); // otherwise, the service process of esbuild would run until npm start ends
}

/**
 * Bundles each program into one file, for machines on which no packages are installed.
 * @param {{ in: string, out: string }[]} entries @param {string} target a folder
 */
export async function bundlePrograms(entries, target) {
  const { build, stop } = await import('esbuild');
  await build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir: target,
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'esm',
    mainFields: ['module', 'main'], // the CommonJS form of jsonc-parser loads files at run time
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 200,
    legalComments: 'linked',
    banner: { js: commonJs },
    logLevel: 'warning',
  });
  await stop();
}

/**
 * Bundles the script of a browser page with its packages into `page.js`, and its style into `page.css`.
 * @param {{ script: string, style: string }} entries @param {string} target a folder
 */
export async function bundlePage({ script, style }, target) {
  const { build, stop } = await import('esbuild');
  await build({
    absWorkingDir: root,
    entryPoints: [
      { in: script, out: 'page' },
      { in: style, out: 'page' },
    ],
    outdir: target,
    bundle: true,
    platform: 'browser',
    target: 'es2022',
    format: 'iife',
    minify: true,
    legalComments: 'linked',
    logLevel: 'warning',
  });
  await stop();
}

/**
 * Bundles each view into one HTML file with its script and style, because a host loads a single file into a frame.
 * The content security policy in the file allows only this inline code, which cannot turn text into HTML, regardless of
 * the policy of the host.
 * @param {{ scripts: readonly string[], style: string }} entries scripts; each page is named after its script
 * @param {string} target a folder
 */
export async function bundleViews({ scripts, style }, target) {
  const { build, stop } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [...scripts, style],
    entryNames: '[name]',
    outdir: target,
    write: false,
    bundle: true,
    platform: 'browser',
    target: 'es2022',
    format: 'iife',
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
    plugins: [usedIcons],
    logLevel: 'warning',
  });
  await stop();
  const css = outputFiles.find(({ path }) => path.endsWith('.css'))?.text ?? '';
  mkdirSync(target, { recursive: true });
  for (const { path, text } of outputFiles.filter((file) => file.path.endsWith('.js'))) {
    const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; require-trusted-types-for 'script'; trusted-types 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Muster</title>
<style>${await usedRules(css, text)}</style>
</head>
<body><main></main><script>${text.trim()}</script></body>
</html>
`;
    writeFileSync(path.replace(/\.js$/, '.html'), page);
  }
}

/**
 * Leaves out the icons of the console that neither a view nor a shared component names.
 * @type {import('esbuild').Plugin}
 */
const usedIcons = {
  name: 'used-icons',
  setup({ onLoad }) {
    onLoad({ filter: /\/console\/ui\/icons\.ts$/ }, ({ path }) => {
      const code = ['console/ui', 'console/views', 'console/views/shared'].flatMap((folder) =>
        readdirSync(`${root}/${folder}`)
          .filter((file) => file.endsWith('.tsx'))
          .map((file) => readFileSync(`${root}/${folder}/${file}`, 'utf8')),
      );
      const names = new Set([...code.join().matchAll(/['"]([\w-]+)['"]/g)].map(([, name]) => name));
      const contents = readFileSync(path, 'utf8').replace(/^ {2}'?([\w-]+)'?:\s+'[^']*',$/gm, (icon, name) =>
        names.has(name) ? icon : '',
      );
      return { contents, loader: 'ts' };
    });
  },
};

/**
 * Returns a style sheet without the rules for classes that a script does not use. All views share the console's sheets,
 * and each view needs a part of them. A script may compose the name of a class, such as `f-${tone}`.
 * @param {string} css @param {string} script
 */
async function usedRules(css, script) {
  const { transform } = await import('lightningcss');
  const words = new Set(script.match(/[\w-]+/g));
  const isUsed = (/** @type {string} */ name) =>
    words.has(name) || (name.includes('-') && script.includes(`${name.slice(0, name.lastIndexOf('-') + 1)}\${`));
  const names = css.match(/(?<=\.)[a-z][\w-]*/g) ?? [];
  const unusedSymbols = [...new Set(names)].filter((name) => !isUsed(name));
  return transform({ filename: 'view.css', code: Buffer.from(css), minify: true, unusedSymbols }).code.toString();
}
