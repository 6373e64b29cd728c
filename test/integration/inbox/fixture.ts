/** Fixture: a private workspace in which agents ask people. */
import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { preferencesPath } from '../../../functions/src/kernel/firestore/paths.ts';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import type { SweepJob } from '../../../functions/src/kernel/sweep.ts';
import { sweep } from '../../../functions/src/toolsets/system/rules/sweeper.ts';
import { FirestoreSweepRecord } from '../../../functions/src/toolsets/system/store/metrics.ts';
import { sampleAgent } from '../../support/builders.ts';
import { AccessFixture } from '../access/fixture.ts';
import { answer, call } from '../coordination/calls.ts';
import { silent } from '../coordination/team.ts';

export class InboxFixture extends AccessFixture {
  /** Opens the workspace: Ada leads it, and Ben works in it. */
  async open(): Promise<void> {
    for (const name of ['ada', 'ben', 'eve']) await this.arrive(name);
    await this.app.kernel.store.commit([{ kind: 'nameWorkspace', workspace: this.workspace, access: 'private' }]);
    await this.letIn(this.workspace, 'ada', 'leader');
    await this.letIn(this.workspace, 'ben', 'worker');
  }

  /** Returns an agent of Ada that has a credential, as a registered agent has. */
  async registered(role: 'worker' | 'leader'): Promise<Principal> {
    const known = await this.agentOf('ada', role);
    const id = String(known.agent_id);
    const { owner_uid } = known;
    const credential = {
      api_key: `mk_${id}`,
      secret_hash: 'a-digest',
      agent_id: id,
      created_at: this.now,
      expires_at: new Date(this.now.getTime() + 10 * 86_400_000),
      ancestors: [],
    };
    await this.app.kernel.store.commit([
      { kind: 'createAgent', agent: sampleAgent({ id, owner_uid, role, workspace: this.workspace }) },
      { kind: 'issueCredential', credential },
    ]);
    return { ...known, lineage: [{ subject: `key:${credential.api_key}`, agent_id: id }] };
  }

  async inbox(principal: Principal, tool: string, args: JsonObject = {}, app = this.app): Promise<JsonObject> {
    return answer(this.at({ app }), `inbox_${tool}`, args, principal);
  }

  /** Runs a call that must be rejected, and returns its error. */
  async refusal(principal: Principal, tool: string, args: JsonObject = {}) {
    const { structuredContent, isError } = await call(this, tool, args, principal);
    assert.equal(isError, true, JSON.stringify(structuredContent));
    const { code, message, data } = Object(structuredContent['error'] ?? {});
    return { code, message: message ?? structuredContent['error'], ...data };
  }

  /** Stores in the person's preferences which agents may answer for the person. */
  async lets(name: string, agents: readonly string[]): Promise<void> {
    await firestore()
      .doc(preferencesPath(this.id(name)))
      .set({ agents_may_answer: agents });
  }

  sweepRequests() {
    return this.sweepPart(this.app.services.inbox.answers.sweepJob);
  }

  sweepApprovals() {
    return this.sweepPart(this.app.services.approvedCalls.sweepJob);
  }

  private sweepPart(part: SweepJob) {
    const record = new FirestoreSweepRecord({ database: firestore(), sweep: this.workspace, log: silent });
    return sweep([part], { ...this.app.system.ports, sweepRecord: record, log: silent });
  }
}
