// @ts-check
import { mkdirSync, writeFileSync } from 'node:fs';
import { root } from '../project.mjs';

/**
 * What CommonJS packages expect to find, which a module of ECMAScript lacks.
 * Source: https://github.com/evanw/esbuild/issues/1944
 */
const commonJs = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { fileURLToPath as __fileURLToPath } from 'node:url';",
  'const require = __createRequire(import.meta.url);',
  'const __filename = __fileURLToPath(import.meta.url);',
  "const __dirname = __fileURLToPath(new URL('.', import.meta.url));",
].join('');

/**
 * Puts the compiled functions and all the packages they use into a few files: reading 1,500 of them was most of a
 * cold start. Names stay, so that a log's stack trace can be read. What is imported when it is first needed stays
 * apart. firebase-functions keeps the declared parameters in one place for the whole process, so Firebase finds
 * them from its own copy.
 * @param {string} entry @param {string} target a folder
 */
export async function bundle(entry, target) {
  const { build, stop } = await import('esbuild'); // which a fresh clone lacks while this file is loaded
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
    lineLimit: 200, // an uncaught error prints its line
    legalComments: 'linked',
    banner: { js: commonJs },
    logLevel: 'warning',
  });
  await stop(); // its service would otherwise run for as long as npm start does
}

/**
 * Makes programs that run where nothing is installed: each is one file with all the packages that it uses.
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
    target: 'node20',
    format: 'esm',
    mainFields: ['module', 'main'], // the other form of jsonc-parser finds its files only while it runs
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
 * Puts the script of a page for browsers, with all the packages it uses, into one file, and its style into another:
 * `page.js` and `page.css`.
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
 * Makes each view a page of its own: one file with its script and style in it, since a host hands its frame that one.
 * What a view itself writes is all that its policy allows, whatever the host's is.
 * @param {{ scripts: readonly string[], style: string }} entries the scripts' names are those of the pages
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
    logLevel: 'warning',
  });
  await stop();
  const css = outputFiles.find(({ path }) => path.endsWith('.css'))?.text.trim();
  mkdirSync(target, { recursive: true });
  for (const { path, text } of outputFiles.filter((file) => file.path.endsWith('.js'))) {
    const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Muster</title>
<style>${css}</style>
</head>
<body><main></main><script>${text.trim()}</script></body>
</html>
`;
    writeFileSync(path.replace(/\.js$/, '.html'), page);
  }
}
