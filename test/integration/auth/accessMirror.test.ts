/** The access mirror: a copy of roles and workspaces for the security rules of the Realtime Database. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { followChanges, mirrorPerson } from '../../../functions/src/access/store/accessMirror.ts';
import type { Person } from '../../../functions/src/identity/rules/people.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { personPath } from '../../../functions/src/kernel/firestore/paths.ts';
import {
  ACCESS_WORKSPACES,
  personAccessPath,
  realtimeDatabase,
} from '../../../functions/src/kernel/realtime/database.ts';
import { Team } from '../coordination/team.ts';

const there = async (path: string): Promise<unknown> => (await (await realtimeDatabase()).ref(path).get()).val();
const WORKER = { viewer: true, worker: true };

describe('the access mirror', () => {
  let team: Team;
  beforeEach(() => {
    team = new Team();
  });

  /** Returns a uid that contains characters that are not allowed in keys of the Realtime Database. */
  const newUid = () => `person.${randomUUID()}#$[]%`;

  const member = (uid: string, role: 'viewer' | 'worker') => {
    const { workspace, now: addedAt } = team;
    return { kind: 'setMember', member: { uid, workspace, role, added_by: 'ada', added_at: addedAt } } as const;
  };

  it('contains each role of a person and the weaker roles that it includes', async () => {
    const uid = newUid();
    const { services, kernel } = team.app;
    const mirrored = async () => {
      await services.mirrorPerson(uid);
      await services.mirrorPerson(uid);
      return there(personAccessPath(uid));
    };
    assert.equal(await mirrored(), null);
    await kernel.store.commit([member(uid, 'worker')]);
    assert.deepEqual(await mirrored(), { workspaces: { [team.workspace]: WORKER } });
    await kernel.store.commit([{ kind: 'setPerson', uid, role: 'worker' }]);
    assert.deepEqual(await mirrored(), { role: WORKER, workspaces: { [team.workspace]: WORKER } });
    await kernel.store.commit([{ kind: 'removeMember', workspace: team.workspace, uid }]);
    await kernel.store.commit([{ kind: 'setPerson', uid, role: 'none' }]);
    assert.deepEqual(await mirrored(), { role: { none: true } });
    await firestore().doc(personPath(uid)).delete();
    assert.equal(await mirrored(), null);
  });

  it('is updated before a commit that changes a role returns', async () => {
    const uid = newUid();
    const { store } = team.app.kernel;
    await store.commit([
      { kind: 'nameWorkspace', workspace: team.workspace, access: 'private' },
      member(uid, 'worker'),
    ]);
    assert.equal(await there(`${ACCESS_WORKSPACES}/${team.workspace}`), 'private');
    assert.deepEqual(await there(personAccessPath(uid)), { workspaces: { [team.workspace]: WORKER } });
    await store.commit([{ kind: 'removeMember', workspace: team.workspace, uid }]);
    assert.equal(await there(personAccessPath(uid)), null);
  });

  it('is not updated if the Realtime Database is unreachable, and the commit still succeeds', async () => {
    const warnings: string[] = [];
    const log = { info() {}, error() {}, warn: (event: string) => void warnings.push(event) };
    const { people } = team.app.access.ports;
    const database = () => Promise.reject(new Error('away'));
    await followChanges({ database, people, log }, [member(newUid(), 'viewer')]);
    assert.deepEqual(warnings, ['access_not_mirrored']);
    await followChanges({ database, people, log }, []);
    assert.equal(warnings.length, 1);
  });

  it('gives no role to a person whose document is unreadable', async () => {
    const uid = newUid();
    await firestore().doc(personPath(uid)).set({ role: 'emperor' });
    await team.app.services.mirrorPerson(uid);
    assert.deepEqual(await there(personAccessPath(uid)), { role: { none: true } });
  });

  it('contains for each workspace whether it is private or open', async () => {
    const { services, kernel } = team.app;
    const mirrored = async () => {
      await services.mirrorWorkspaces();
      return there(`${ACCESS_WORKSPACES}/${team.workspace}`);
    };
    for (const access of ['private', 'open'] as const) {
      await kernel.store.commit([{ kind: 'nameWorkspace', workspace: team.workspace, access }]);
      assert.equal(await mirrored(), access);
    }
  });

  it('has the latest roles after concurrent changes; an update fails if roles keep changing', async () => {
    const uid = newUid();
    const states: Person[] = [
      { workspaces: { alpha: 'leader' } },
      { workspaces: { alpha: 'worker' } },
      { workspaces: { alpha: 'worker' } },
    ];
    await mirrorPerson(realtimeDatabase, { find: async () => states.shift() }, uid);
    assert.deepEqual(await there(personAccessPath(uid)), { workspaces: { alpha: WORKER } });
    assert.equal(states.length, 0);
    let number = 0;
    const restless = { find: async (): Promise<Person> => ({ workspaces: { [`w${number++}`]: 'viewer' } }) };
    await assert.rejects(mirrorPerson(realtimeDatabase, restless, uid), /kept changing/);
  });
});
