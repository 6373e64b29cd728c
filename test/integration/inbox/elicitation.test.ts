/** MCP elicitation: the client of a waiting agent asks the person. The tests use the client of the MCP SDK. */
import assert from 'node:assert/strict';
import { Client, type ClientCapabilities, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { endpointSettings, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';
import { authenticatorOf } from '../../support/principals.ts';
import { answer as answerOf } from '../coordination/calls.ts';
import { silent } from '../coordination/team.ts';
import { InboxFixture } from './fixture.ts';

type Reply = { readonly action: 'accept' | 'decline'; readonly content?: Record<string, string> };

type Elicitation = ClientCapabilities['elicitation'] & {};

const ASK = { question: 'Which color?', kind: 'choice', options: ['red', 'blue'] };

describe('elicitation of an answer by the client of an agent', () => {
  let fixture: InboxFixture;
  let agent: Principal;
  let ada: Principal;
  const endpoints: RunningEndpoint[] = [];
  const clients: Client[] = [];

  beforeEach(async () => {
    fixture = new InboxFixture();
    await fixture.open();
    agent = await fixture.agentOf('ada', 'worker');
    ada = await fixture.person('ada');
  });

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await Promise.all(endpoints.splice(0).map((endpoint) => endpoint.close()));
  });

  /** Connects a client. Returns the forms that it showed and its inbox_wait call. The person replies with `reply`. */
  async function connect(
    reply: (shown: unknown) => Promise<Reply>,
    revision = '2026-07-28',
    elicitation: Elicitation = { form: {} },
  ) {
    const endpoint = await serveEndpoint({
      ...fixture.app.calls,
      authenticator: authenticatorOf(agent),
      ...endpointSettings(),
      log: silent,
    });
    endpoints.push(endpoint);
    const shown: unknown[] = [];
    const client = new Client(
      { name: 'test', version: '1' },
      {
        capabilities: { elicitation },
        ...(revision === '2026-07-28' && { versionNegotiation: { mode: { pin: revision } } }),
      },
    );
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      shown.push(params);
      return reply(params);
    });
    const requestInit = { headers: { Authorization: 'Bearer any' } };
    const url = new URL(`${endpoint.url}/mcp?workspace=${fixture.workspace}`);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    clients.push(client);
    const wait = async (request_id: string) => {
      const { structuredContent } = await client.callTool({
        name: 'inbox_wait',
        arguments: { request_id, wait_ms: 0 },
      });
      return Object(structuredContent);
    };
    const call = async (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
    return { shown, wait, call };
  }

  const ask = async (more = {}) => String((await fixture.inbox(agent, 'ask', { ...ASK, ...more }))['request_id']);

  it("shows the question at the client, and stores the person's answer", async () => {
    const { shown, wait } = await connect(async () => ({ action: 'accept', content: { answer: 'red' } }));
    const request_id = await ask();
    const received = await wait(request_id);
    assert.deepEqual([received.state, received.answer], ['answered', 'red']);
    assert.deepEqual(received.answered_by, { uid: ada.uid, agent_id: agent.agent_id });
    const [form] = shown;
    assert.equal(Object(form).message, 'Which color?');
    assert.deepEqual(Object(form).requestedSchema.properties.answer.enum, ['red', 'blue']);
  });

  it('keeps the answer from the inbox if the person gives it before the client returns one', async () => {
    let request_id = '';
    const { shown, wait } = await connect(async () => {
      await fixture.inbox(ada, 'answer', { request_id, answer: 'blue' });
      return { action: 'accept', content: { answer: 'red' } };
    });
    request_id = await ask();
    const received = await wait(request_id);
    assert.deepEqual([received.answer, received.answered_by], ['blue', { uid: ada.uid }]);
    assert.equal(shown.length, 1);
  });

  it('rejects an answer in the inbox after the client has returned an answer', async () => {
    const { wait } = await connect(async () => ({ action: 'accept', content: { answer: 'red' } }));
    const request_id = await ask();
    await wait(request_id);
    const second = await fixture.refusal(ada, 'inbox_answer', { request_id, answer: 'blue' });
    assert.deepEqual([second.reason, second.answer], ['ALREADY_ANSWERED', 'red']);
    assert.equal((await wait(request_id)).answer, 'red');
  });

  it('keeps only one of two concurrent answers from the client and the inbox', async () => {
    let elsewhere: Promise<unknown> = Promise.resolve();
    let request_id = '';
    const { wait } = await connect(async () => {
      elsewhere = fixture.inbox(ada, 'answer', { request_id, answer: 'blue' }, fixture.anotherInstance());
      return { action: 'accept', content: { answer: 'red' } };
    });
    request_id = await ask();
    const received = await wait(request_id);
    const [given] = await Promise.allSettled([elsewhere]);
    assert.equal(received.answer, given.status === 'fulfilled' ? 'blue' : 'red');
    assert.equal((await wait(request_id)).answer, received.answer);
  });

  it('records in the audit log the agent whose client returned the answer', async () => {
    const { wait } = await connect(async () => ({ action: 'accept', content: { answer: 'red' } }));
    const request_id = await ask();
    fixture.pass(1);
    await wait(request_id);
    const { events } = await answerOf(fixture, 'system_getAudit', { thing: `request:${request_id}` }, ada);
    const [answered, asked] = Object(events);
    const event = [answered.by, answered.tool, answered.changes[0].after];
    assert.deepEqual(event, [agent.agent_id, 'inbox.wait', { state: 'answered' }]);
    assert.equal(asked.tool, 'inbox.ask');
  });

  it('asks only once if the person declines, and leaves the question open', async () => {
    const { shown, wait } = await connect(async () => ({ action: 'decline' }));
    const request_id = await ask();
    assert.equal((await wait(request_id)).state, 'open');
    assert.equal((await wait(request_id)).state, 'open');
    assert.equal(shown.length, 1);
    await fixture.inbox(ada, 'answer', { request_id, answer: 'blue' });
    assert.equal((await wait(request_id)).answer, 'blue');
  });

  it('ignores an answer that is not one of the options', async () => {
    const { wait } = await connect(async () => ({ action: 'accept', content: { answer: 'green' } }));
    const request_id = await ask();
    await wait(request_id).catch(() => undefined);
    assert.equal((await fixture.app.inbox.ports.requests.find(request_id))?.value.state, 'open');
  });

  it('skips approval requests, questions to other people, and questions of other agents', async () => {
    const { shown, wait } = await connect(async () => ({ action: 'accept', content: { answer: 'red' } }));
    assert.equal((await wait(await ask({ to: fixture.id('ben') }))).state, 'open');
    const other: Principal = { ...agent, uid: 'agent:other', agent_id: 'other' };
    const others = await fixture.inbox(other, 'ask', ASK);
    assert.equal((await wait(String(others['request_id']))).state, 'open');
    const own = (await fixture.app.inbox.ports.requests.find(await ask()))?.value;
    assert.ok(own);
    const call = { tool: 'coding.create_task', arguments: {}, readonly: false };
    const demanded = { ...own, id: `${own.id}-demanded`, call };
    await fixture.app.kernel.store.commit([{ kind: 'createRequest', request: demanded }]);
    assert.equal((await wait(demanded.id)).state, 'open', 'an approval needs a page');
    assert.equal(shown.length, 0);
  });

  it('is not used in protocol revisions in which it needs a session', async () => {
    const { shown, wait } = await connect(async () => ({ action: 'accept', content: { answer: 'red' } }), '2025-11-25');
    assert.equal((await wait(await ask())).state, 'open');
    assert.equal(shown.length, 0);
  });

  describe('by opening a page', () => {
    const URL_ONLY = { url: {} };
    const CODE = { tool: 'CLAUDECODE', description: 'Add a test', instructions: 'Write it.' };
    /** Requires approval of a tool. The agent's rights show this only if they are read afterwards. */
    const demanded = async () => {
      const { lineage } = await fixture.registered('worker');
      await answerOf(fixture, 'access_update_workspace', { approvals: [{ tool: 'coding.create_task' }] }, ada);
      agent = { ...(await fixture.agentOf('ada', 'worker')), ...(lineage && { lineage }) };
    };
    const idIn = (shown: unknown) => String(new URL(Object(shown).url).searchParams.get('request'));
    const stateOf = async (id: string) => (await fixture.app.inbox.ports.requests.find(id))?.value.state;

    for (const [elicitation, question, approval] of [
      [{}, 'form', undefined],
      [{ form: {} }, 'form', undefined],
      [URL_ONLY, 'url', 'url'],
      [{ form: {}, url: {} }, 'form', 'url'],
    ] as const)
      it(`shows ${question} for a question, ${approval ?? 'nothing'} for an approval: ${JSON.stringify(elicitation)}`, async () => {
        await demanded();
        const { shown, wait, call } = await connect(async () => ({ action: 'decline' }), '2026-07-28', elicitation);
        assert.equal((await wait(await ask())).state, 'open');
        assert.equal((await call('coding_create_task', CODE)).isError, true);
        const modes = shown.map((one) => Object(one).mode ?? 'form');
        assert.deepEqual(modes, approval === undefined ? [question] : [question, approval]);
      });

    it('runs the call if the person approves it on the page', async () => {
      await demanded();
      const { shown, call } = await connect(
        async (page) => {
          await fixture.inbox(ada, 'answer', { request_id: idIn(page), answer: 'approve' });
          await fixture.app.services.approvedCalls.execute(idIn(page));
          return { action: 'accept' };
        },
        '2026-07-28',
        URL_ONLY,
      );
      const { isError, structuredContent } = await call('coding_create_task', CODE);
      assert.equal(isError, undefined, JSON.stringify(structuredContent));
      assert.equal(Object(structuredContent).result.task.description, 'Add a test');
      assert.equal(shown.length, 1);
    });

    it('changes nothing and asks only once if the person opens the page without a decision', async () => {
      await demanded();
      const { shown, wait, call } = await connect(
        async () => ({ action: shown.length === 1 ? 'decline' : 'accept' }),
        '2026-07-28',
        URL_ONLY,
      );
      const refused = await call('coding_create_task', CODE);
      const id = idIn(shown[0]);
      assert.match(JSON.stringify(refused.structuredContent), /APPROVAL_REQUIRED.*inbox_wait/);
      assert.equal((await wait(id)).state, 'open');
      assert.equal(shown.length, 1);
      const question = await ask();
      assert.equal((await wait(question)).state, 'open');
      assert.deepEqual([await stateOf(id), await stateOf(question), shown.length], ['open', 'open', 2]);
    });

    it('does not show the page of a request to another person', async () => {
      const { shown, wait } = await connect(async () => ({ action: 'accept' }), '2026-07-28', URL_ONLY);
      assert.equal((await wait(await ask({ to: fixture.id('ben') }))).state, 'open');
      assert.deepEqual(shown, []);
    });
  });
});
