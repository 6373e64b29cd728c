/**
 * Separate process in an environment without emulators. It writes, reads and watches as a person, and prints the
 * results. Arguments: the person's ID token, and a path that no other test uses.
 */

import { CachedCallerTokens } from '../../../../functions/src/access/store/idTokens.ts';
import type { Caller } from '../../../../functions/src/identity/rules/principal.ts';
import { MusterError } from '../../../../functions/src/kernel/errors.ts';
import { systemClock, systemHashing } from '../../../../functions/src/kernel/platform.ts';
import { FirestoreAccess } from '../../../../functions/src/toolsets/firebase/firestore/access.ts';
import { parsePath } from '../../../../functions/src/toolsets/firebase/rules/databaseAccess.ts';
import { personOf } from '../../../support/principals.ts';
import { Recorder } from './recorder.ts';

const [credential = '', text = ''] = process.argv.slice(2);
const caller: Caller = { principal: personOf('whoever', 'worker'), credential };
const noAgents = { signIn: () => Promise.reject(new Error('no agent calls in this test')) };

const access = new FirestoreAccess({
  tokens: new CachedCallerTokens({ agents: noAgents, clock: systemClock }),
  clock: systemClock,
  hashing: systemHashing,
  timeoutMilliseconds: 20_000,
});

const path = parsePath('firestore', text);
const set = { operation: 'set', merge: false, transaction: false } as const;

await access.write(caller, path, { ...set, data: { n: 1 } });
const document = await access.read(caller, path, { shallow: false });
const collection = await access.read(caller, parsePath('firestore', `${text}/none`), { shallow: false });
const refused: unknown = await access
  .read(caller, parsePath('firestore', 'credentials/any'), { shallow: false })
  .catch((error: unknown) => (error instanceof MusterError ? error.details.reason : String(error)));
const recorder = new Recorder();
const watch = access.watch(caller, path, { shape: 'value', maxItems: 1 }, recorder);
await recorder.started();
await access.write(caller, path, { ...set, data: { n: 2 } });
const changes = await recorder.atLeast(1);
watch.stop();
process.stdout.write(JSON.stringify({ document: document.data, collection: collection.data, refused, changes }), () =>
  process.exit(),
);
