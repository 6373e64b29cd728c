/** A credential that is restricted to one workspace gets no data of other workspaces, not even their names. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../../functions/src/kernel/json.ts';
import { CALLABLE_BY_TOOLSET, RESOURCES, TOOLS } from './entries.ts';
import { type CallerName, TenancyFixture } from './fixture.ts';
import { type Ids, makeThings } from './things.ts';

describe('restriction of a credential to one workspace', function () {
  this.timeout('3m');
  const fixture = new TenancyFixture();
  /** A text in all data of the other workspace. No response may contain the text or the other workspace's name. */
  const elsewhere = `elsewhere-${randomUUID().slice(0, 8)}`;
  let ids: Ids;
  let restricted: CallerName;
  let own: string;

  const as = fixture.result.bind(fixture);

  const register = (workspace: string, more: JsonObject) =>
    as('bea herself', workspace, 'onboarding.registerAgent', {
      agentInfo: { name: `bea-${randomUUID().slice(0, 8)}`, type: 'developer', version: '1.0.0' },
      capabilities: [{ name: 'a', category: 'b' }],
      ...more,
    });

  /** Bea leads both workspaces. One of her agents has worked in both, and has the restricted credential. */
  before(async () => {
    await fixture.begin();
    const { alpha, beta, bea } = fixture;
    const things = await makeThings(fixture);
    const member = { uid: bea, workspace: alpha, role: 'leader', added_by: 'ann', added_at: new Date() } as const;
    await fixture.app.kernel.store.commit([{ kind: 'setMember', member }]);
    const credential = await fixture.agent(bea, 'bea-held', 'leader', { workspace: alpha, held_to: alpha });
    own = fixture.idOf('bea-held');
    await register(beta, { workspace: beta });
    const both = await register(alpha, { workspace: alpha });
    const bothId = String(Object(both['agent'])['id'] ?? both['agentId']);
    await as('bea herself', beta, 'coordination.init_coordination', { goal: elsewhere, master_plan: 'p' });
    await as('bea herself', beta, 'coordination.register_agent', { agent_id: bothId, role: 'worker' });
    await as('bea herself', alpha, 'coordination.register_agent', { agent_id: bothId, role: 'worker' });
    await as('bea herself', beta, 'access.set_member', { workspace: alpha, uid: fixture.cas, role: 'viewer' });
    await as('bea herself', alpha, 'firebase.subscribe', {
      subscriptionId: 'of-beta',
      database: 'realtime',
      path: `workspaces/${beta}/queue`,
    });
    for (let count = 0; count < 3; count++) {
      await as('bea herself', beta, 'coordination.create_task', { description: elsewhere });
      await as('bea herself', alpha, 'todo.add_task', { title: `shown ${count}` });
      await as('bea herself', beta, 'todo.add_task', { title: `made in another ${count}` });
    }
    restricted = 'nobody';
    fixture.as(restricted, credential);
    ids = { ...things, owner: bea, agent: bothId };
  });
  after(() => fixture.end());

  function assertSilent(answer: string): void {
    assert.ok(!answer.includes(fixture.beta) && !answer.includes(elsewhere), answer);
  }

  /** Returns each page of the audit log as text. Asserts that every page except the last has two entries. */
  async function auditPages(): Promise<readonly string[]> {
    const pages: string[] = [];
    for (let cursor: unknown, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const args = { limit: 2, ...(cursor !== undefined && { cursor: String(cursor) }) };
      const result = await as(restricted, fixture.alpha, 'system.getAudit', args);
      pages.push(JSON.stringify(result));
      cursor = result['nextCursor'];
      if (cursor !== undefined) assert.equal(Object(result['events']).length, 2, 'a page before the last is not full');
    }
    return pages;
  }

  it('the credential can read all audit entries of its workspace, and no others', async () => {
    const pages = await auditPages();
    for (const page of pages) {
      assertSilent(page);
      assert.doesNotMatch(page, /made in another/);
    }
    for (let count = 0; count < 3; count++) assert.match(pages.join(), new RegExp(`shown ${count}`));
  });

  it("a change that was made from another workspace is shown without that workspace's name", async () => {
    const thing = `member:${fixture.alpha}/${fixture.cas}`;
    for (const caller of [restricted, 'ann herself'] as const) {
      const { events } = await as(caller, fixture.alpha, 'system.getAudit', { of: 'workspace', thing });
      assert.equal(Object(events)[0]?.tool, 'access.set_member');
      assertSilent(JSON.stringify(events));
    }
    const { events } = await as('bea herself', fixture.alpha, 'system.getAudit', { of: 'workspace', thing });
    assert.equal(Object(events)[0]?.workspace, fixture.beta, 'Bea has a role there and sees the name');
  });

  it('the credential can list and revoke only the connections of its workspace', async () => {
    const { connections } = await as(restricted, fixture.alpha, 'access.list_connections', {});
    assert.deepEqual(
      Object(connections)
        .map(({ agent_id }: { agent_id: string }) => agent_id)
        .sort(),
      [ids.agent, own].sort(),
    );
    const bea = await as('bea herself', fixture.alpha, 'access.list_connections', {});
    const others = Object(bea['connections']).filter(({ home }: { home: string }) => home === fixture.beta);
    assert.ok(others.length > 0);
    const { error } = await fixture.call(restricted, fixture.alpha, 'access.revoke_connection', {
      agent_id: String(others[0].agent_id),
    });
    assert.match(String(error?.message), /^The agent ".*" does not exist, or you cannot disconnect it/);
  });

  it('the credential cannot read documents of agents or people, who may be in several workspaces', async () => {
    const paths = [`agents/${ids.agent}`, `agents/${own}`, `people/${fixture.bea}`];
    for (const path of paths) {
      const { error } = await fixture.call(restricted, fixture.alpha, 'firebase.read', { database: 'firestore', path });
      assert.ok(error, path);
      assertSilent(error.message);
    }
  });

  it('the credential gets no data of other workspaces from any MCP resource', async () => {
    for (const uri of Object.values(RESOURCES))
      assertSilent(await fixture.mcp(restricted, fixture.alpha, 'resources/read', { uri: uri(ids) }));
  });

  for (const [toolset, tools] of CALLABLE_BY_TOOLSET)
    it(`the credential gets no data of other workspaces from any tool of ${toolset}`, async () => {
      for (const tool of tools) {
        const answered = await fixture.call(restricted, fixture.alpha, tool, TOOLS[tool]?.(ids) ?? {});
        assertSilent(`${tool}: ${JSON.stringify(answered)}`);
      }
    });
});
