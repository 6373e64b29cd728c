/** Mistakes in calls that read or write Firestore and the Realtime Database. */
import type { MistakesFixture } from './fixture.ts';
import { type Mistake, mistake } from './mistake.ts';

const read = (args: object) => (fixture: MistakesFixture) => fixture.call('firebase_read', args);
const write = (args: object) => (fixture: MistakesFixture) => fixture.call('firebase_write', args);

export const dataMistakes: readonly Mistake[] = [
  mistake(
    'queries a single document',
    read({ database: 'firestore', path: 'agents/agent-001/extra/one', query: { limit: 5, orderBy: 'a' } }),
    { happened: /document|collection/, where: /query|path/, next: /collection|odd|leave/i },
  ),
  mistake('writes to a collection', write({ database: 'firestore', path: 'shared', data: { a: 1 } }), {
    happened: /collection|document/,
    where: /path/,
    next: /push|even|document/i,
  }),
  mistake('sets startAt without orderBy', read({ database: 'firestore', path: 'messages', query: { startAt: 5 } }), {
    happened: /startAt|orderBy/,
    where: /query/,
    next: /orderBy/,
  }),
  mistake(
    'uses a character that the Realtime Database does not allow in a path',
    write({ database: 'realtime', path: 'shared/a.b', data: 1 }),
    { happened: /character|may not|not.{0,20}path|segment/i, where: /path/, next: /[.#$[\]/]{3,}|without|"\."/ },
  ),
  mistake(
    'uses a character that the Realtime Database does not allow in a key',
    write({ database: 'realtime', path: 'shared/keys', data: { 'user@mail.com': 1 } }),
    { happened: /key|name/i, where: /user@mail\.com|data/, next: /\. # \$ \[ \]/ },
  ),
  mistake(
    'updates a document that does not exist',
    write({ database: 'firestore', path: 'messages/none/at/all', data: { a: 1 }, operation: 'update' }),
    { happened: /Nothing found at/, where: /path|messages/, next: /use .?"set/ },
  ),
  mistake('reads data that only the hub may read', read({ database: 'firestore', path: 'credentials/mk_aaaa' }), {
    happened: /may not|denied|rules|reserved/i,
    where: /path|credentials/,
    next: /rules|read|tool|ask/i,
  }),
  mistake('calls the database by another name', read({ database: 'rtdb', path: 'shared' }), {
    happened: /Invalid|expected/i,
    where: /database/,
    next: /realtime.*firestore/,
  }),
  mistake(
    'polls an unknown subscription',
    (fixture) => fixture.call('firebase_pollEvents', { subscriptionId: 'none' }),
    { happened: /Subscription not found/, where: /subscriptionId|none/, next: /firebase.subscribe/ },
  ),
];
