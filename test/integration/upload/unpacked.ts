/** The folder that `firebase deploy` uploads, packed by the Firebase CLI and unpacked outside the repository. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { root } from '../../../scripts/project.mjs';

const require = createRequire(import.meta.url);

/** The Firebase CLI's modules for packing and unpacking, which have no types. */
const packing = z.object({
  prepareFunctionsUpload: z.custom<(source: string, config: object) => Promise<unknown>>(isFunction),
});
const unpacking = z.object({ unzip: z.custom<(file: string, folder: string) => Promise<void>>(isFunction) });
const packed = z.object({ pathToSource: z.string() });
const firebaseJson = z.object({ functions: z.array(z.object({ source: z.string(), ignore: z.array(z.string()) })) });

export interface Unpacked {
  readonly folder: string;
  /** Path of a log file outside the folder. */
  readonly log: string;
  /** Path of the start script of the functions framework that the upload's lockfile installs. */
  readonly framework: string;
  remove(): Promise<void>;
}

export async function unpackUpload(): Promise<Unpacked> {
  const { functions } = firebaseJson.parse(JSON.parse(await readFile(`${root}/firebase.json`, 'utf8')));
  const [codebase] = functions;
  if (codebase === undefined) throw new Error('firebase.json has no functions.');
  const { prepareFunctionsUpload } = packing.parse(
    require('firebase-tools/lib/deploy/functions/prepareFunctionsUpload'),
  );
  const { unzip } = unpacking.parse(require('firebase-tools/lib/unzip'));
  const { pathToSource } = packed.parse(
    await prepareFunctionsUpload(`${root}/${codebase.source}`, { ignore: [...codebase.ignore] }),
  );
  const own = await mkdtemp(join(tmpdir(), 'muster-upload-'));
  const folder = join(own, 'unpacked');
  await unzip(pathToSource, folder);
  await rm(pathToSource);
  // Installs packages as the platform's buildpack does. Source:
  // https://cloud.google.com/docs/buildpacks/nodejs#installing_dependencies
  const install = ['ci', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline'];
  await promisify(execFile)('npm', install, { cwd: folder });
  const framework = join(folder, 'node_modules/@google-cloud/functions-framework/build/src/main.js');
  return { folder, framework, log: join(own, 'log'), remove: () => rm(own, { recursive: true, force: true }) };
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}
