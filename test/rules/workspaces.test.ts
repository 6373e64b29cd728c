/** Lists of what belongs to a workspace, people who come and go, and the bounds of what is free-form. */
import assert from 'node:assert/strict';
import { assertFails, assertSucceeds } from '@firebase/rules-unit-testing';
import { get, push, ref, remove, set, update } from 'firebase/database';
import {
  collection,
  deleteDoc,
  doc,
  getDoc,
  getDocs,
  orderBy,
  query,
  setDoc,
  where,
} from 'firebase/firestore/lite';
import type { Person } from '../../functions/src/access/rules/people.ts';
import { personToDocument } from '../../functions/src/access/rules/people.ts';
import { type Permission, permissions } from '../../functions/src/access/rules/permissions.ts';
import { mirrorOf } from '../../functions/src/access/store/accessMirror.ts';
import { agentPath, personPath, runPath } from '../../functions/src/kernel/firestore/paths.ts';
import {
  FREE_FORM,
  FREE_FORM_ROOTS,
  personAccessPath,
  presencePath,
  queuedTaskPath,
} from '../../functions/src/kernel/realtime/database.ts';
import { type Caller, callerNamed, OWNER } from './callers.ts';
import { useEnvironment } from './environment.ts';

const member = callerNamed('a worker of alpha');
const admin = callerNamed('a admin of the deployment');
const somebody = callerNamed('somebody with an account only');

/** The collections whose documents say which workspace they are in, and belong to nobody. */
const inField = permissions.filter(
  ({ database, where: place, reads }) =>
    database === 'firestore' && typeof place === 'object' && 'field' in place && reads !== 'owner and agents',
);

const collectionOf = ({ path }: Permission): string =>
  path.replace(/\/[^/]+$/, '').replaceAll(/\{(\w+)\}/g, '$1-listed');

describe('lists of what is in workspaces', () => {
  const environment = useEnvironment();

  before(async () => {
    for (const row of inField) {
      for (const workspace of ['alpha', 'gamma']) {
        const path = `${collectionOf(row)}/in-${workspace}`;
        await setDoc(doc(environment.unbound.firestore, path), { workspace, at: 1 });
      }
    }
  });

  for (const row of inField) {
    it(`${row.path} are found by the workspace alone`, async () => {
      const { firestore } = environment.as(member);
      const all = collection(firestore, collectionOf(row));
      const found = await assertSucceeds(getDocs(query(all, where('workspace', '==', 'alpha'))));
      assert.deepEqual(
        found.docs.map(({ id }) => id),
        ['in-alpha'],
      );
      await assertSucceeds(getDocs(query(all, where('workspace', '==', 'alpha'), where('at', '==', 1))));
      await assertFails(getDocs(all));
      await assertFails(getDocs(query(all, where('at', '==', 1))));
      await assertFails(getDocs(query(all, orderBy('workspace'))));
      await assertFails(getDocs(query(all, where('workspace', 'in', ['alpha', 'gamma']))));
      await assertFails(getDocs(query(all, where('workspace', '==', 'gamma'))));
      for (const other of [admin, somebody]) {
        const theirs = collection(environment.as(other).firestore, collectionOf(row));
        await assertFails(getDocs(query(theirs, where('workspace', '==', 'alpha'))));
        await assertFails(getDocs(theirs));
      }
    });
  }

  it('agents are found by their owner too, wherever they are', async () => {
    await setDoc(doc(environment.unbound.firestore, agentPath('owners-agent')), {
      owner_uid: OWNER.uid,
      workspace: 'gamma',
    });
    const theirs = (caller: Caller) =>
      query(collection(environment.as(caller).firestore, 'agents'), where('owner_uid', '==', OWNER.uid));
    assert.equal((await assertSucceeds(getDocs(theirs(OWNER)))).size, 1);
    await assertSucceeds(getDoc(doc(environment.as(OWNER).firestore, agentPath('owners-agent'))));
    for (const other of [member, admin]) {
      await assertFails(getDocs(theirs(other)));
      await assertFails(getDoc(doc(environment.as(other).firestore, agentPath('owners-agent'))));
    }
  });

  it('runs are found by their owner in workspaces where they have a role', async () => {
    for (const [id, workspace] of [
      ['left', 'alpha'],
      ['kept', 'default'],
    ] as const)
      await setDoc(doc(environment.unbound.firestore, runPath(id)), { owner_uid: OWNER.uid, workspace });
    const theirs = environment.as(OWNER).firestore;
    const of = (workspace: string) =>
      query(
        collection(theirs, 'runs'),
        where('owner_uid', '==', OWNER.uid),
        where('workspace', '==', workspace),
      );
    await assertSucceeds(getDoc(doc(theirs, runPath('kept'))));
    assert.equal((await assertSucceeds(getDocs(of('default')))).size, 1);
    await assertFails(getDoc(doc(theirs, runPath('left'))));
    await assertFails(getDocs(of('alpha')));
  });

  it('what is not there and what is not theirs read the same', async () => {
    for (const path of ['tasks/in-gamma', 'tasks/not-there', 'agents/in-gamma', 'agents/not-there']) {
      await assertFails(getDoc(doc(environment.as(member).firestore, path)));
    }
    await set(ref(environment.unbound.realtime, presencePath('elsewhere')), {
      last_seen: 1,
      workspace: 'gamma',
    });
    for (const path of [presencePath('elsewhere'), presencePath('not-there')]) {
      for (const caller of [member, admin])
        await assertFails(get(ref(environment.as(caller).realtime, path)));
      await assertSucceeds(get(ref(environment.unbound.realtime, path)));
    }
  });
});

interface Stage {
  readonly person?: Person;
  /** Workspaces. */
  readonly may: { readonly read: readonly string[]; readonly write: readonly string[] };
}

async function tryAll(attempts: readonly (() => Promise<unknown>)[], isAllowed: boolean): Promise<void> {
  for (const attempt of attempts) await (isAllowed ? assertSucceeds : assertFails)(attempt());
}

describe('somebody who comes and goes', () => {
  const environment = useEnvironment();
  const uid = String(somebody.uid);
  const mine = () => environment.as(somebody);

  async function stand(person: Person | undefined): Promise<void> {
    const { firestore, realtime } = environment.unbound;
    const stored = doc(firestore, personPath(uid));
    await (person === undefined ? deleteDoc(stored) : setDoc(stored, personToDocument(person)));
    await set(ref(realtime, personAccessPath(uid)), person === undefined ? null : mirrorOf(person));
  }

  const writes = (workspace: string) => [
    () => setDoc(doc(mine().firestore, `shared/${workspace}/notes/mine`), { text: 'hello' }),
    () => set(ref(mine().realtime, `shared/${workspace}/mine`), 'hello'),
  ];
  const reads = (workspace: string) => [
    () => getDocs(collection(mine().firestore, `shared/${workspace}/notes`)),
    () => get(ref(mine().realtime, queuedTaskPath(workspace, 'any').replace('/any', ''))),
  ];

  it('may do what is stored at the moment, and nothing after', async () => {
    const stages: readonly Stage[] = [
      { may: { read: [], write: [] } },
      {
        person: { workspaces: { alpha: 'viewer' } },
        may: { read: ['alpha'], write: [] },
      },
      {
        person: { workspaces: { alpha: 'worker' } },
        may: { read: ['alpha'], write: ['alpha'] },
      },
      {
        person: { role: 'worker', workspaces: {} },
        may: { read: ['beta', 'default'], write: ['beta', 'default'] },
      },
      { person: { role: 'none', workspaces: {} }, may: { read: [], write: [] } },
    ];
    for (const { person, may } of stages) {
      await stand(person);
      for (const workspace of ['alpha', 'beta', 'gamma', 'default']) {
        await tryAll(reads(workspace), may.read.includes(workspace));
        await tryAll(writes(workspace), may.write.includes(workspace));
      }
    }
    await stand(undefined);
  });
});

describe('what is free-form in the Realtime Database', () => {
  const environment = useEnvironment();
  const mine = () => environment.as(member).realtime;

  for (const root of FREE_FORM_ROOTS) {
    it(`${root}: is of the workspace that it names, else of default`, async () => {
      const open = callerNamed('a worker of the deployment');
      const theirs = environment.as(open).realtime;
      await assertSucceeds(set(push(ref(mine(), `${root}/alpha/conv-1`)), { text: 'hello' }));
      await assertFails(set(push(ref(theirs, `${root}/alpha/conv-1`)), { text: 'hello' }));
      await assertFails(get(ref(theirs, `${root}/alpha`)));
      await assertSucceeds(set(push(ref(theirs, `${root}/conversations/conv-123`)), { text: 'hello' }));
      await assertFails(set(push(ref(mine(), `${root}/conversations/conv-123`)), { text: 'hello' }));
      await assertFails(get(ref(mine(), root)));
      await assertFails(update(ref(mine(), root), { 'alpha/a': 1, 'gamma/a': 1 }));
      await assertSucceeds(update(ref(mine(), root), { 'alpha/a': 1, 'alpha/b': 1 }));
    });

    it(`${root}: has texts of bounded length at a bounded depth`, async () => {
      const path = (levels: number) => `${root}/alpha${'/x'.repeat(levels - 2)}`;
      await assertSucceeds(set(ref(mine(), path(FREE_FORM.levels)), 'deep'));
      await assertFails(set(ref(mine(), path(FREE_FORM.levels + 1)), 'too deep'));
      await assertFails(set(ref(mine(), path(FREE_FORM.levels)), { x: 'too deep' }));
      const text = (more: number) => 'x'.repeat(FREE_FORM.characters + more);
      await assertSucceeds(set(ref(mine(), `${root}/alpha/long`), text(0)));
      await assertFails(set(ref(mine(), `${root}/alpha/long`), text(1)));
      await assertFails(set(ref(mine(), `${root}/alpha/long`), { in: { it: text(1) } }));
      await assertSucceeds(remove(ref(mine(), `${root}/alpha`)));
    });
  }
});
