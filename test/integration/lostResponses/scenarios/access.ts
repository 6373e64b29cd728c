/** Scenarios for members, invitations, workspaces and connections. */

import type { Principal } from '../../../../functions/src/identity/rules/principal.ts';
import type { MemberRole } from '../../../../functions/src/identity/rules/role.ts';
import { answer } from '../../coordination/calls.ts';
import { type LostResponseFixture, scenariosOf } from '../fixture.ts';

/** Makes the leader a leader of the scenario's workspace, and adds another member with the given role. */
async function ledBy(fixture: LostResponseFixture, other: MemberRole = 'worker'): Promise<Principal> {
  const { workspace, leader, now: addedAt } = fixture;
  const member = (uid: string, role: MemberRole) => ({ uid, workspace, role, added_by: 'ada', added_at: addedAt });
  await fixture.app.kernel.store.commit([
    { kind: 'createWorkspace', name: workspace, workspace: { repositories: [] } },
    { kind: 'nameWorkspace', workspace, access: 'private' },
    { kind: 'setMember', member: member(leader.owner_uid, 'leader') },
  ]);
  await fixture.app.kernel.store.commit([{ kind: 'setMember', member: member(benIn(fixture), other) }]);
  return leader;
}

/** Returns the owner of the leader as a person, because only people can loosen a limit. */
function personIn({ leader: { owner_uid: ownerUid, owner } }: LostResponseFixture): Principal {
  return { uid: ownerUid, kind: 'person', owner_uid: ownerUid, maxRole: 'admin', owner };
}

function benIn({ workspace }: LostResponseFixture): string {
  return `ben-${workspace}`;
}

export const access = scenariosOf('access', {
  invite: async (fixture) => {
    await ledBy(fixture);
    return { args: { email: `cyd-${fixture.workspace}@example.com`, role: 'worker' }, principal: personIn(fixture) };
  },
  withdraw_invitation: async (fixture) => {
    await ledBy(fixture);
    const email = `cyd-${fixture.workspace}@example.com`;
    await answer(fixture, 'access_invite', { email, role: 'worker' }, personIn(fixture));
    return { args: { email } };
  },
  accept_invitation: async (fixture) => {
    await ledBy(fixture);
    const email = `cyd-${fixture.workspace}@example.com`;
    await answer(fixture, 'access_invite', { email, role: 'worker' }, personIn(fixture));
    const uid = `cyd-${fixture.workspace}`;
    const owner = await fixture.app.access.ports.roles.of(uid);
    const principal: Principal = { uid, kind: 'person', owner_uid: uid, maxRole: 'admin', owner, email };
    return { args: {}, principal };
  },
  set_member: {
    'for a worker': async (fixture) => {
      await ledBy(fixture);
      return { args: { uid: benIn(fixture), role: 'viewer' } };
    },
    'for one of two leaders': async (fixture) => {
      await ledBy(fixture, 'leader');
      return { args: { uid: benIn(fixture), role: 'viewer' } };
    },
  },
  remove_member: async (fixture) => {
    await ledBy(fixture);
    return { args: { uid: benIn(fixture) } };
  },
  create_workspace: async (fixture) => {
    const args = { name: fixture.workspace, repositories: ['sartor-ai/muster'] };
    return { args, principal: personIn(fixture) };
  },
  update_workspace: async (fixture) => {
    await ledBy(fixture);
    const routing = { pin: { review: 'claude' }, forbid: ['gemini'] };
    return { args: { repositories: ['sartor-ai/*'], routing }, principal: personIn(fixture) };
  },
  revoke_connection: async (fixture) => {
    const { agentId } = await answer(fixture, 'onboarding_registerAgent', {
      agentInfo: { name: 'coder', type: 'developer', version: '1.0.0' },
      capabilities: [{ name: 'coding', category: 'work' }],
    });
    return { args: { agent_id: String(agentId) } };
  },
});
