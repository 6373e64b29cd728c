import assert from 'node:assert/strict';
import type { Caller } from '../../../../functions/src/identity/rules/principal.ts';
import { firestore } from '../../../../functions/src/kernel/firestore/client.ts';
import { COLLECTIONS, discoveryPath, WORKSPACE_ACCESS_PATH } from '../../../../functions/src/kernel/firestore/paths.ts';
import { agentCaller, personCaller } from '../callers.ts';
import { DataClient, refusedFor, unique } from '../dataClient.ts';
import { changeRules, restoreRules } from './rules.ts';

const data = new DataClient('firestore');
const viewer = agentCaller('viewer');
const worker = agentCaller('worker');
const admin = agentCaller('admin');
const READ = "allow get: if hasRoleIn(workspaceNamed(first), 'viewer');";
const WRITE = "allow write: if hasRoleIn(workspaceNamed(first), 'worker');";
const SHARED = `match /shared/{first} {\n      ${READ}\n      ${WRITE}`;

describe('Firestore security rules', () => {
  const place = `shared/${unique()}`;
  let writer: Caller;

  before(async () => {
    writer = await personCaller('worker');
  });

  it("let a caller list only documents of the caller's workspaces", async () => {
    const theirs = `workspace-${unique()}`;
    for (const workspace of ['default', theirs])
      for (const name of ['one', 'two']) {
        const id = `${unique()}-${name}`;
        await firestore().doc(discoveryPath(id)).set({ workspace, at: 1 });
      }
    const of = (workspace: string, cursor?: string) => ({
      orderBy: 'workspace',
      startAt: workspace,
      endAt: workspace,
      limit: 1,
      cursor,
    });
    const { nextCursor } = await data.read(viewer, COLLECTIONS.discoveries, of('default'));
    assert.ok(nextCursor !== undefined);
    const { count } = await data.read(viewer, COLLECTIONS.discoveries, of('default', nextCursor));
    assert.equal(count, 1);
    for (const query of [undefined, { orderBy: 'workspace' }, of(theirs)]) {
      await firestore()
        .doc(WORKSPACE_ACCESS_PATH)
        .set({ access: { [theirs]: 'private' } }, { merge: true });
      await refusedFor('PERMISSION_DENIED', data.read(viewer, COLLECTIONS.discoveries, query));
    }
  });

  it('deny a write even if it would change nothing', async () => {
    const empty = `shared/${unique()}`;
    await data.write(worker, empty, {});
    await refusedFor('PERMISSION_DENIED', data.write(viewer, empty, {}, { transaction: true }));
    const absent = `shared/${unique()}`;
    await refusedFor('PERMISSION_DENIED', data.write(viewer, absent, null, { operation: 'delete', transaction: true }));
  });

  describe('changed security rules', () => {
    afterEach(restoreRules);

    it('apply to the next call', async () => {
      await refusedFor('PERMISSION_DENIED', data.write(viewer, place, { by: 'viewer' }));
      await changeRules(SHARED, SHARED.replace(WRITE, WRITE.replace('worker', 'viewer')));
      await data.write(viewer, place, { by: 'viewer' });
      assert.deepEqual((await data.read(worker, place)).data, { by: 'viewer' });
      await restoreRules();
      await refusedFor('PERMISSION_DENIED', data.write(viewer, place, { by: 'viewer again' }));
      await changeRules(SHARED, SHARED.replace(READ, 'allow get: if false;'));
      await refusedFor('PERMISSION_DENIED', data.read(admin, place));
    });

    it('can refer to the calling agent and its owner', async () => {
      const { uid, agent_id: agentId, owner_uid: ownerUid } = worker.principal;
      const only = `request.auth.uid == '${uid}' && request.auth.token.agentId == '${agentId}' && request.auth.token.kind == 'agent' && request.auth.token.ownerUid == '${ownerUid}'`;
      await changeRules(SHARED, SHARED.replace(WRITE, `allow write: if ${only};`));
      await data.write(worker, place, { by: 'the one' });
      await refusedFor('PERMISSION_DENIED', data.write(admin, place, { by: 'another' }));
      await refusedFor('PERMISSION_DENIED', data.write(writer, place, { by: 'another' }));
    });
  });
});
