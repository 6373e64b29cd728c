import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { personCaller } from '../callers.ts';
import { unique } from '../dataClient.ts';
import { openProduction, type Production } from './production.ts';

const program = fileURLToPath(new URL('productionCaller.ts', import.meta.url));

/** Returns environment variables as in a deployed function. A proxy to the emulator takes the place of Firestore. */
function environment({ proxy }: Production, roots: string): NodeJS.ProcessEnv {
  const { PATH, NODE_OPTIONS, GCLOUD_PROJECT } = process.env;
  return {
    PATH,
    NODE_OPTIONS,
    GCLOUD_PROJECT,
    GRPC_DEFAULT_SSL_ROOTS_FILE_PATH: roots,
    grpc_proxy: proxy,
    METADATA_SERVER_DETECTION: 'none',
  };
}

describe('Firestore access in production', () => {
  let production: Production;
  let directory: string;

  before(async () => {
    production = await openProduction(process.env['FIRESTORE_EMULATOR_HOST'] ?? '');
    directory = await mkdtemp(join(tmpdir(), 'muster-production-'));
  });

  after(async () => {
    production.close();
    await rm(directory, { recursive: true });
  });

  it("reads, writes and watches with no other credential than the caller's ID token", async () => {
    const { credential } = await personCaller('worker');
    const roots = join(directory, 'roots.pem');
    await writeFile(roots, production.certificate);
    const { stdout } = await promisify(execFile)(process.execPath, [program, credential, `shared/${unique()}`], {
      env: environment(production, roots),
    });
    assert.deepEqual(JSON.parse(stdout), {
      document: { n: 1 },
      collection: [],
      refused: 'PERMISSION_DENIED',
      changes: [{ key: '', data: { n: 2 } }],
    });
    // Each call has one request, because a request that the rules deny is not retried.
    const methods = production.calls.map(({ method }) => method).sort();
    assert.deepEqual(methods, ['BatchGetDocuments', 'BatchGetDocuments', 'Commit', 'Commit', 'Listen', 'RunQuery']);
    for (const { method, headers } of production.calls)
      assert.equal(headers.authorization, `Bearer ${credential}`, method);
  });
});
