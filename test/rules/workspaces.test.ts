/** Queries for documents of one workspace, and size limits of free-form data. */
import assert from 'node:assert/strict';
import { assertFails, assertSucceeds } from '@firebase/rules-unit-testing';
import { get, ref, remove, set, update } from 'firebase/database';
import { collection, doc, getDoc, getDocs, orderBy, query, setDoc, where } from 'firebase/firestore/lite';
import { type Permission, permissions } from '../../functions/src/access/rules/permissions.ts';
import { agentPath } from '../../functions/src/kernel/firestore/paths.ts';
import { FREE_FORM, FREE_FORM_ROOTS, presencePath } from '../../functions/src/kernel/realtime/database.ts';
import { type Caller, callerNamed, OWNER } from './callers.ts';
import { useEnvironment } from './environment.ts';

const member = callerNamed('a worker of alpha');
const admin = callerNamed('a admin of the deployment');

/** Rows of the permission table whose documents have a workspace field and no owner. */
const inField = permissions.filter(
  ({ database, where: place, reads }) =>
    database === 'firestore' && typeof place === 'object' && 'field' in place && reads !== 'owner and agents',
);

const collectionOf = ({ path }: Permission): string =>
  path.replace(/\/[^/]+$/, '').replaceAll(/\{(\w+)\}/g, '$1-listed');

describe('queries for documents in workspaces', () => {
  const environment = useEnvironment();

  before(async () => {
    for (const row of inField)
      for (const workspace of ['alpha', 'gamma']) {
        const path = `${collectionOf(row)}/in-${workspace}`;
        await setDoc(doc(environment.unbound.firestore, path), { workspace, at: 1 });
      }
  });

  for (const row of inField)
    it(`documents of ${row.path} can be listed only by a query that names one workspace`, async () => {
      const { firestore } = environment.as(member);
      const all = collection(firestore, collectionOf(row));
      const found = await assertSucceeds(getDocs(query(all, where('workspace', '==', 'alpha'))));
      const ids = found.docs.map(({ id }) => id);
      assert.deepEqual(ids, ['in-alpha']);
      await assertSucceeds(getDocs(query(all, where('workspace', '==', 'alpha'), where('at', '==', 1))));
      await assertFails(getDocs(all));
      await assertFails(getDocs(query(all, where('at', '==', 1))));
      await assertFails(getDocs(query(all, orderBy('workspace'))));
      await assertFails(getDocs(query(all, where('workspace', 'in', ['alpha', 'gamma']))));
      await assertFails(getDocs(query(all, where('workspace', '==', 'gamma'))));
    });

  it('agents in any workspace can also be listed by a query of their owner', async () => {
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

  it('reads of missing documents are denied, like reads of documents that a caller may not see', async () => {
    for (const path of ['tasks/in-gamma', 'tasks/not-there', 'agents/in-gamma', 'agents/not-there'])
      await assertFails(getDoc(doc(environment.as(member).firestore, path)));
    await set(ref(environment.unbound.realtime, presencePath('elsewhere')), { last_seen: 1, workspace: 'gamma' });
    for (const path of [presencePath('elsewhere'), presencePath('not-there')]) {
      for (const caller of [member, admin]) await assertFails(get(ref(environment.as(caller).realtime, path)));
      await assertSucceeds(get(ref(environment.unbound.realtime, path)));
    }
  });
});

describe('free-form data in the Realtime Database', () => {
  const environment = useEnvironment();
  const mine = () => environment.as(member).realtime;

  for (const root of FREE_FORM_ROOTS) {
    it(`a write to several paths in ${root} is denied if one path is in another workspace`, async () => {
      await assertFails(get(ref(mine(), root)));
      await assertFails(update(ref(mine(), root), { 'alpha/a': 1, 'gamma/a': 1 }));
      await assertSucceeds(update(ref(mine(), root), { 'alpha/a': 1, 'alpha/b': 1 }));
    });

    it(`data in ${root} can have only limited text lengths and a limited number of levels`, async () => {
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
