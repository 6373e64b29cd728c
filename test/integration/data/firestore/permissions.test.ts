import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Caller } from '../../../../functions/src/access/rules/principal.ts';
import { ROLES } from '../../../../functions/src/access/rules/role.ts';
import { firestore } from '../../../../functions/src/kernel/firestore/client.ts';
import {
  COLLECTIONS,
  discoveryPath,
  WORKSPACE_ACCESS_PATH,
} from '../../../../functions/src/kernel/firestore/paths.ts';
import type { WriteOperation } from '../../../../functions/src/toolsets/firebase/rules/databaseAccess.ts';
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

describe('the rules of Firestore decide', () => {
  const place = `shared/${unique()}`;
  let reader: Caller;
  let writer: Caller;

  before(async () => {
    [reader, writer] = await Promise.all([personCaller('viewer'), personCaller('worker')]);
  });

  it('what agents and people may do, by their roles', async () => {
    for (const caller of [worker, writer]) {
      await data.write(caller, place, { by: caller.principal.uid });
      for (const other of [viewer, worker, reader, writer]) {
        assert.deepEqual((await data.read(other, place)).data, { by: caller.principal.uid });
      }
    }
    for (const caller of [viewer, reader]) {
      for (const operation of ['set', 'update', 'delete'] satisfies WriteOperation[]) {
        for (const transaction of [false, true]) {
          const write = data.write(caller, place, { by: 'me' }, { operation, transaction });
          assert.equal((await refusedFor('PERMISSION_DENIED', write)).code, 'FORBIDDEN');
        }
      }
      const push = data.write(
        caller,
        `${place}/more`,
        {},
        {
          operation: 'push',
          repetition: { id: randomUUID(), argumentsHash: 'hash' },
        },
      );
      await refusedFor('PERMISSION_DENIED', push);
      await refusedFor(
        'PERMISSION_DENIED',
        data.write(caller, place, {}, { merge: true, transaction: true }),
      );
    }
  });

  it('that what is in workspaces is listed to who asks for one of theirs', async () => {
    const theirs = `workspace-${unique()}`;
    for (const workspace of ['default', theirs])
      for (const name of ['one', 'two']) {
        const id = `${unique()}-${name}`;
        await firestore().doc(discoveryPath(id)).set({ workspace, at: 1 });
      }
    const of = (workspace: string, cursor?: string) => ({
      ...{ orderBy: 'workspace', startAt: workspace, endAt: workspace, limit: 1 },
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

  it('also where a write would change nothing', async () => {
    const empty = `shared/${unique()}`;
    await data.write(worker, empty, {});
    await refusedFor('PERMISSION_DENIED', data.write(viewer, empty, {}, { transaction: true }));
    const absent = `shared/${unique()}`;
    await refusedFor(
      'PERMISSION_DENIED',
      data.write(viewer, absent, null, { operation: 'delete', transaction: true }),
    );
  });

  it('that what the server keeps for itself is closed to every role', async () => {
    for (const role of ROLES) {
      const caller = agentCaller(role);
      for (const collection of [COLLECTIONS.credentials, COLLECTIONS.idempotency]) {
        await refusedFor('PERMISSION_DENIED', data.read(caller, collection));
        await refusedFor('PERMISSION_DENIED', data.read(caller, `${collection}/any`));
        await refusedFor('PERMISSION_DENIED', data.write(caller, `${collection}/any`, { a: 1 }));
      }
      await refusedFor('PERMISSION_DENIED', data.read(caller, `unknown-${unique()}`));
    }
    for (const collection of [COLLECTIONS.agents, COLLECTIONS.tasks]) {
      await refusedFor('PERMISSION_DENIED', data.write(admin, `${collection}/any`, { a: 1 }));
    }
  });

  it('that a role which changes counts at once', async () => {
    const { principal } = worker;
    const demoted: Caller = { ...worker, principal: { ...principal, maxRole: 'viewer' } };
    await refusedFor('PERMISSION_DENIED', data.write(demoted, place, { a: 1 }));
    await data.write(worker, place, { a: 1 });
  });

  describe('when they change', () => {
    afterEach(restoreRules);

    it('so does the answer', async () => {
      await refusedFor('PERMISSION_DENIED', data.write(viewer, place, { by: 'viewer' }));
      await changeRules(SHARED, SHARED.replace(WRITE, WRITE.replace('worker', 'viewer')));
      await data.write(viewer, place, { by: 'viewer' });
      assert.deepEqual((await data.read(worker, place)).data, { by: 'viewer' });
      await restoreRules();
      await refusedFor('PERMISSION_DENIED', data.write(viewer, place, { by: 'viewer again' }));
      await changeRules(SHARED, SHARED.replace(READ, 'allow get: if false;'));
      await refusedFor('PERMISSION_DENIED', data.read(admin, place));
    });

    it('they see the agent that calls, and its owner', async () => {
      const { uid, agentId, ownerUid } = worker.principal;
      const only = `request.auth.uid == '${uid}' && request.auth.token.agentId == '${agentId}' && request.auth.token.kind == 'agent' && request.auth.token.ownerUid == '${ownerUid}'`;
      await changeRules(SHARED, SHARED.replace(WRITE, `allow write: if ${only};`));
      await data.write(worker, place, { by: 'the one' });
      await refusedFor('PERMISSION_DENIED', data.write(admin, place, { by: 'another' }));
      await refusedFor('PERMISSION_DENIED', data.write(writer, place, { by: 'another' }));
    });
  });
});
