// @ts-check
/** Builds the functions of another commit, with the packages that are installed now. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { devDirectory, root } from '../project.mjs';
import { textsIn } from './releases.mjs';

/**
 * Returns the files of a commit's bundle, as texts by path.
 * @param {string} commit
 * @returns {Promise<Record<string, string>>}
 * @throws if an installed package has another version than in the commit's lockfile
 */
export async function bundleOf(commit) {
  const others = otherPackages(commit);
  if (others.length > 0)
    throw new Error(
      `${commit} needs other versions of ${others.join(', ')}. Check out that commit, run npm ci, and store the release there.`,
    );
  mkdirSync(devDirectory, { recursive: true });
  const folder = mkdtempSync(`${devDirectory}/release-`);
  try {
    const archive = git('archive', '--format=tar', commit);
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
    for (const modules of ['node_modules', 'functions/node_modules'])
      if (existsSync(`${root}/${modules}`)) symlinkSync(`${root}/${modules}`, `${folder}/${modules}`);
    const { buildFunctions } = await import(pathToFileURL(`${folder}/scripts/setup/build.mjs`).href);
    await buildFunctions();
    return textsIn(`${folder}/functions/dist/lib`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} commit */
export function rulesOf(commit) {
  const text = (/** @type {string} */ file) => git('show', `${commit}:${file}`).toString();
  return { firestore: text('firestore.rules'), database: text('database.rules.json') };
}

/** @param {string} commit or a tag @returns {string} its full id */
export function commitOf(commit) {
  return git('rev-parse', '--verify', `${commit}^{commit}`).toString().trim();
}

/**
 * Returns the bundled packages and build tools whose installed version is not the one in a commit's lockfile.
 * @param {string} commit
 * @returns {string[]}
 */
export function otherPackages(commit) {
  const wanted = versionsIn(git('show', `${commit}:package-lock.json`).toString());
  const installed = versionsIn(readFileSync(`${root}/node_modules/.package-lock.json`, 'utf8'));
  const manifest = JSON.parse(git('show', `${commit}:functions/package.json`).toString());
  const needed = [...Object.keys(manifest.dependencies), 'esbuild'];
  return needed.flatMap((name) =>
    placesOf(name).filter((place) => wanted[place] !== undefined && wanted[place] !== installed[place]),
  );
}

/** @param {string} name */
function placesOf(name) {
  return [`node_modules/${name}`, `functions/node_modules/${name}`];
}

/** @param {string} lockfile @returns {Record<string, string | undefined>} */
function versionsIn(lockfile) {
  /** @type {{ packages: Record<string, { version?: string }> }} */
  const { packages } = JSON.parse(lockfile);
  return Object.fromEntries(Object.entries(packages).map(([place, { version }]) => [place, version]));
}

/** @param {string[]} args */
function git(...args) {
  return execFileSync('git', args, { cwd: root, maxBuffer: 1 << 30 });
}
