/** People with accounts, and their agents, in workspaces that are created for one test. */
import { randomUUID } from 'node:crypto';
import { getAuth } from 'firebase-admin/auth';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import type { MemberRole, Role, WorkspaceAccess } from '../../../functions/src/identity/rules/role.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { firebaseApp } from '../../../functions/src/kernel/realtime/database.ts';
import { answer, call } from '../coordination/calls.ts';
import { Team } from '../coordination/team.ts';

export class AccessFixture extends Team {
  id(name: string): string {
    return `${name}-${this.workspace}`;
  }

  email(name: string): string {
    return `${this.id(name)}@example.com`;
  }

  /** Creates an account with a verified address. If `role` is given, gives the person this role in the deployment. */
  async arrive(name: string, role?: Role): Promise<string> {
    const uid = this.id(name);
    const account = { uid, email: this.email(name), emailVerified: true, displayName: `${name} of ${uid}` };
    await getAuth(firebaseApp()).createUser(account);
    if (role) await this.app.kernel.store.commit([{ kind: 'setPerson', uid, role }]);
    return uid;
  }

  /** Returns the principal of a person, with the stored roles. */
  async person(name: string): Promise<Principal> {
    const uid = this.id(name);
    const owner = await this.app.access.ports.roles.of(uid);
    return { uid, kind: 'person', owner_uid: uid, maxRole: 'admin', owner, email: this.email(name) };
  }

  /** Returns the principal of an agent of a person, with the stored roles of the person. */
  async agentOf(
    name: string,
    maxRole: Role,
    limits: Partial<Pick<Principal, 'held_to' | 'toolsets' | 'readonly'>> = {},
  ): Promise<Principal> {
    const agentId = this.id(`agent-of-${name}`);
    const owner = await this.app.access.ports.roles.of(this.id(name));
    const uid = `agent:${agentId}`;
    return { uid, kind: 'agent', agent_id: agentId, owner_uid: this.id(name), maxRole, owner, ...limits };
  }

  async workspaceOf(leader: string, access: WorkspaceAccess = 'private'): Promise<string> {
    const workspace = `w-${randomUUID().slice(0, 13)}`;
    await this.app.kernel.store.commit([
      { kind: 'createWorkspace', name: workspace, workspace: { repositories: [] } },
      { kind: 'nameWorkspace', workspace, access },
    ]);
    await this.letIn(workspace, leader, 'leader');
    return workspace;
  }

  async letIn(workspace: string, name: string, role: MemberRole): Promise<void> {
    const member = { uid: this.id(name), workspace, role, added_by: 'a-test', added_at: this.now };
    await this.app.kernel.store.commit([{ kind: 'setMember', member }]);
  }

  /** Makes the workspace of the fixture private, and creates people that have these roles in it. */
  async closeTo(members: Readonly<Record<string, MemberRole>>): Promise<void> {
    const { workspace } = this;
    await this.app.kernel.store.commit([{ kind: 'nameWorkspace', workspace, access: 'private' }]);
    for (const [name, role] of Object.entries(members)) {
      await this.arrive(name, role);
      await this.letIn(workspace, name, role);
    }
  }

  /** Calls an access tool, and returns its response. */
  async ask(principal: Principal, tool: string, args: JsonObject = {}): Promise<JsonObject> {
    return answer(this, `access_${tool}`, args, principal);
  }

  /** Calls an access tool that must fail, and returns the code, message and reason of the error. */
  async refused(principal: Principal, tool: string, args: JsonObject = {}): Promise<Refusal> {
    const { structuredContent, isError } = await call(this, `access_${tool}`, args, principal);
    if (!isError) throw new Error(`${tool} was allowed: ${JSON.stringify(structuredContent)}`);
    return refusalIn(structuredContent);
  }

  async roleOf(name: string, workspace: string): Promise<MemberRole | undefined> {
    return (await this.app.access.ports.people.member(workspace, this.id(name)))?.value.role;
  }
}

export interface Refusal {
  readonly code: number;
  readonly message: string;
  readonly reason: string | undefined;
}

function refusalIn({ error }: JsonObject): Refusal {
  const { code, message, data } = Object(error);
  return { code, message, reason: data?.reason };
}

/** Returns the error with a name replaced, so that errors that name different items can be compared. */
export function withName({ message, ...rest }: Refusal, name: string, other: string): Refusal {
  return { ...rest, message: message.replaceAll(name, other) };
}
