/** Access that the permission table does not cover: whole trees, collection groups, batches and personal data. */

import assert from 'node:assert/strict';
import { assertFails, assertSucceeds } from '@firebase/rules-unit-testing';
import { get, ref, remove, set, update } from 'firebase/database';
import {
  collection,
  collectionGroup,
  doc,
  getDoc,
  getDocs,
  limit,
  query,
  setDoc,
  updateDoc,
  where,
  writeBatch,
} from 'firebase/firestore/lite';
import { permissions } from '../../functions/src/access/rules/permissions.ts';
import {
  agentPath,
  COLLECTIONS,
  preferencesPath,
  requestPath,
  taskPath,
  writersCommitPath,
} from '../../functions/src/kernel/firestore/paths.ts';
import { presencePath, realtimeCommitPath } from '../../functions/src/kernel/realtime/database.ts';
import { IS_NIGHTLY } from '../support/nightly.ts';
import { callerNamed, callers, OWNER, someOf } from './callers.ts';
import { PROJECT, useEnvironment } from './environment.ts';

const worker = callerNamed('a worker of the deployment');
const viewer = callerNamed('a viewer of the deployment');
const admin = [callerNamed('a admin of the deployment'), callerNamed('an agent, admin, of an admin')];

/** Name of every Firestore collection in the table, at any depth. */
const groups = new Set(
  permissions
    .filter((row) => row.database === 'firestore')
    .flatMap(({ path }) => path.split('/').filter((_segment, index) => index % 2 === 0))
    .filter((segment) => !segment.startsWith('{')),
);

describe('special cases of the Firestore rules', () => {
  const environment = useEnvironment();

  it("the Firestore rules let a request's recipient and requester read it, but not answer it", async () => {
    const owner = String(OWNER.uid);
    const others = callers.filter(({ principal }) => principal?.owner_uid !== owner);
    const cases = [
      ['asked', { asked_of: owner, owner_uid: 'somebody' }, true],
      ['asking', { asked_of: 'somebody', owner_uid: owner }, true],
      ['neither', { asked_of: 'somebody', owner_uid: 'another' }, false],
    ] as const;
    for (const [name, whose, isShown] of cases) {
      const path = requestPath(`request-${name}`);
      const value = { workspace: 'default', state: 'open', ...whose };
      await setDoc(doc(environment.unbound.firestore, path), value);
      const own = doc(environment.as(OWNER).firestore, path);
      await (isShown ? assertSucceeds(getDoc(own)) : assertFails(getDoc(own)));
      await assertFails(updateDoc(own, { state: 'answered', answer: 'approve' }));
      for (const each of IS_NIGHTLY ? others : someOf(others))
        await assertFails(getDoc(doc(environment.as(each).firestore, path)));
    }
    const mine = (field: string) =>
      getDocs(query(collection(environment.as(OWNER).firestore, COLLECTIONS.requests), where(field, '==', owner)));
    await assertSucceeds(mine('asked_of'));
    await assertSucceeds(mine('owner_uid'));
    await assertFails(mine('workspace'));
  });

  it('the Firestore rules deny every collection group query', async () => {
    const { firestore } = environment.as(viewer);
    await assertSucceeds(getDoc(doc(firestore, 'workspaces/beta/sessions/s-1')));
    // The default run tests only admins, the owner and a viewer. The nightly run tests all callers.
    const asking = IS_NIGHTLY ? callers : [...admin, OWNER, viewer];
    for (const group of groups) {
      await Promise.all(
        asking.map((each) =>
          assertFails(getDocs(query(collectionGroup(environment.as(each).firestore, group), limit(1)))),
        ),
      );
      await assertSucceeds(getDocs(query(collectionGroup(environment.unbound.firestore, group), limit(1))));
    }
  });

  it('the Firestore rules do not let an agent change its own profile', async () => {
    for (const each of callers.filter(({ claims }) => claims?.agentId !== undefined)) {
      const path = agentPath(String(each.claims?.agentId));
      await setDoc(doc(environment.unbound.firestore, path), { role: 'viewer' });
      await assertFails(updateDoc(doc(environment.as(each).firestore, path), { role: 'admin' }));
      await assertSucceeds(updateDoc(doc(environment.unbound.firestore, path), { role: 'admin' }));
    }
  });

  it('the Firestore rules deny a whole batch if one of its writes is denied', async () => {
    const { firestore } = environment.as(worker);
    const open = doc(firestore, 'shared/from-a-batch');
    const closed = doc(firestore, taskPath('from-a-batch'));
    await assertFails(writeBatch(firestore).set(open, { text: 'hello' }).set(closed, { status: 'done' }).commit());
    assert.equal((await getDoc(open)).exists(), false);
    await assertSucceeds(writeBatch(firestore).set(open, { text: 'hello' }).commit());
    assert.equal((await getDoc(open)).exists(), true);
  });
});

describe("a person's own data", () => {
  const environment = useEnvironment();
  const mine = () => environment.as(OWNER);

  it('a person can write preferences only with allowed fields and values', async () => {
    const preferences = () => doc(mine().firestore, preferencesPath(String(OWNER.uid)));
    const good = [
      {},
      { reminder_lead_minutes: 0 },
      { reminder_lead_minutes: 40320, push: false, email: true },
      { agents_may_answer: [] },
      { agents_may_answer: ['agent-7'] },
    ];
    for (const each of good) await assertSucceeds(setDoc(preferences(), each));
    const bad = [
      ...[-1, 40321, 1.5, '60', null].map((reminder_lead_minutes) => ({ reminder_lead_minutes })),
      ...[{ push: 'yes' }, { email: 1 }, { address: 'all@example.com' }],
      { agents_may_answer: 'agent-7' },
      { agents_may_answer: Array.from({ length: 21 }, () => 'agent-7') },
    ];
    for (const each of bad) {
      await assertFails(setDoc(preferences(), each));
      await assertFails(setDoc(preferences(), each, { merge: true }));
    }
  });

  it('a person can list in the preferences 20 agents that may answer, with ids of limited length', async () => {
    const preferences = () => doc(mine().firestore, preferencesPath(String(OWNER.uid)));
    const ids = Array.from({ length: 20 }, (_, n) => `agent-${n}-`.padEnd(128, 'x'));
    await assertSucceeds(setDoc(preferences(), { agents_may_answer: ids }));
    const bad = [[...ids.slice(1), 'x'.repeat(300)], ['x'.repeat(100_000)], [{ id: 'x'.repeat(3000) }]];
    for (const agents_may_answer of bad) await assertFails(setDoc(preferences(), { agents_may_answer }));
  });

  it('a person can write only small commit markers that expire within two days', async () => {
    const hours = (count: number) => new Date(Date.now() + count * 3_600_000);
    const sound = { expires_at: hours(25), arguments_hash: 'x'.repeat(64) };
    for (const each of [OWNER, viewer, worker]) {
      const { firestore } = environment.as(each);
      const proof = (id: string) => doc(firestore, writersCommitPath(String(each.uid), id));
      await assertSucceeds(setDoc(proof('x'.repeat(40)), sound));
      await assertSucceeds(setDoc(proof('unkeyed'), { expires_at: hours(47) }));
      await assertFails(setDoc(proof('x'.repeat(41)), sound));
      const bad = [
        {},
        { ...sound, expires_at: hours(49) },
        { ...sound, expires_at: new Date('9999-01-01T00:00:00Z') },
        { ...sound, expires_at: Date.now() },
        { ...sound, arguments_hash: 'x'.repeat(65) },
        { ...sound, more: true },
      ];
      for (const data of bad) {
        await assertFails(setDoc(proof('bad'), data));
        await assertFails(setDoc(proof('unkeyed'), data));
      }
    }
    const others = doc(mine().firestore, writersCommitPath(String(worker.uid), 'theirs'));
    await assertFails(setDoc(others, sound));
  });

  it('a person can write devices only with allowed fields and values', async () => {
    const device = (name = 'phone') => ref(mine().realtime, `devices/${OWNER.uid}/${name}`);
    const sound = { token: 'token', registered_at: 1 };
    await assertSucceeds(set(device(), sound));
    const bad = [
      ...['token', { token: 'token' }, { registered_at: 1 }, { ...sound, token: '' }, { ...sound, token: 7 }],
      ...[
        { ...sound, token: 'x'.repeat(4097) },
        { ...sound, registered_at: Date.now() + 600_000 },
      ],
      ...[
        { ...sound, name: 'x'.repeat(101) },
        { ...sound, more: true },
      ],
    ];
    for (const each of bad) await assertFails(set(device(), each));
    await assertFails(set(device('x'.repeat(101)), sound));
    await assertFails(set(ref(mine().realtime, `devices/${OWNER.uid}`), { phone: sound }));
    await assertSucceeds(remove(device()));
  });

  it('a query for the personal documents of all people is denied', async () => {
    for (const name of ['todos', 'recurringTasks', 'reminders', 'events'])
      for (const each of someOf(callers)) {
        const all = query(collection(environment.as(each).firestore, name), limit(1));
        await assertFails(getDocs(all));
      }
  });
});

describe('special cases of the Realtime Database rules', () => {
  const environment = useEnvironment();

  it('the Realtime Database rules deny replacing or removing a whole free-form tree', async () => {
    for (const tree of ['messages', 'shared'])
      for (const each of admin) {
        const { realtime } = environment.as(each);
        await assertSucceeds(set(ref(realtime, `${tree}/team/a`), 1));
        await assertFails(remove(ref(realtime, tree)));
        await assertFails(set(ref(realtime, tree), { mine: 1 }));
        await assertSucceeds(update(ref(realtime, tree), { mine: 1, 'team/b': 2 }));
        await assertSucceeds(remove(ref(realtime, `${tree}/team`)));
      }
  });

  it('the Realtime Database rules deny reading the whole database', async () => {
    for (const each of admin) await assertFails(get(ref(environment.as(each).realtime)));
    await assertSucceeds(get(ref(environment.unbound.realtime)));
  });

  it('the Realtime Database rules do not let an agent change its own presence', async () => {
    for (const each of callers.filter(({ claims }) => claims?.agentId !== undefined)) {
      const path = presencePath(String(each.claims?.agentId));
      await assertFails(set(ref(environment.as(each).realtime, path), { last_seen: 9e15 }));
      await assertSucceeds(set(ref(environment.unbound.realtime, path), { last_seen: 9e15 }));
    }
  });

  it('the Realtime Database rules allow each person to write their own commit marker once', async () => {
    const now = Date.now();
    const proof = (uid = String(OWNER.uid)) => ({ uid, expires_at: now + 3_600_000 });
    const { realtime } = environment.as(OWNER);
    const commit = (id: string) => ref(realtime, realtimeCommitPath(id));
    await assertSucceeds(get(commit('once')));
    await assertSucceeds(set(commit('once'), { ...proof(), arguments_hash: 'hash', over: 'etag' }));
    await assertSucceeds(get(commit('once')));
    await assertFails(set(commit('once'), proof()));
    await assertFails(update(ref(realtime), { 'commits/once': proof(), 'commits/other': proof() }));
    await assertFails(remove(commit('once')));
    const other = environment.as(worker).realtime;
    await assertFails(get(ref(other, realtimeCommitPath('once'))));
    await assertFails(set(ref(other, realtimeCommitPath('theirs')), proof()));
    await assertFails(set(ref(other, realtimeCommitPath('once')), proof(String(worker.uid))));
    const unsound = [
      { uid: OWNER.uid },
      { expires_at: now },
      { ...proof(), expires_at: 'later' },
      { ...proof(), expires_at: now + 7 * 86_400_000 },
      { ...proof(), arguments_hash: 'x'.repeat(65) },
      { ...proof(), over: 'x'.repeat(201) },
      { ...proof(), more: true },
    ];
    for (const each of unsound) await assertFails(set(commit('unsound'), each));
    await assertFails(set(commit('x'.repeat(41)), proof()));
    await set(ref(environment.unbound.realtime, realtimeCommitPath('expired')), { ...proof(), expires_at: now - 1 });
    await assertSucceeds(set(commit('expired'), proof()));
  });

  it('the Realtime Database rules deny a whole update if one of its paths is denied', async () => {
    const { realtime } = environment.as(worker);
    await assertFails(update(ref(realtime), { 'shared/updated': 1, 'tasks/queue/updated': 1 }));
    assert.equal((await get(ref(realtime, 'shared/updated'))).exists(), false);
    await assertSucceeds(update(ref(realtime), { 'shared/updated': 1 }));
    assert.equal((await get(ref(realtime, 'shared/updated'))).val(), 1);
  });

  it('the Realtime Database rules have an index for exactly the children in the permission table', async () => {
    for (const { path, indexOn } of permissions.filter((row) => row.database === 'realtime')) {
      const parent = path.slice(0, path.lastIndexOf('/')).replace('{uid}', 'owner-1');
      for (const child of indexOn ?? []) assert.equal(await orderedBy(parent, child), 200, `${parent} by ${child}`);
      assert.equal(await orderedBy(parent, 'unheard-of'), 400, parent);
    }
  });
});

/** Returns the HTTP status of a REST query. Unlike the clients, REST rejects a query without an index. */
async function orderedBy(path: string, child: string): Promise<number> {
  const url = new URL(`http://${process.env.FIREBASE_DATABASE_EMULATOR_HOST}/${path}.json`);
  url.search = new URLSearchParams({ ns: PROJECT, orderBy: JSON.stringify(child), limitToFirst: '1' }).toString();
  const { status } = await fetch(url, { headers: { authorization: 'Bearer owner' } });
  return status;
}
