/** People and agents with valid and invalid credentials, and data, for the tests of mistakes. */
import assert from 'node:assert/strict';
import { credentialToDocument } from '../../../functions/src/identity/store/credentials.ts';
import { firestore } from '../../../functions/src/kernel/firestore/client.ts';
import { credentialPath } from '../../../functions/src/kernel/firestore/paths.ts';
import { systemHashing } from '../../../functions/src/kernel/platform.ts';
import { registerAgent, type TestAgent } from '../support/agents.ts';
import { isRecord } from '../support/clients.ts';
import { endpointUrl, newWorkspace, tokenOf } from '../support/endpoint.ts';
import { type HttpResponse, headersFor, request, send } from '../support/http.ts';

type Fields = Readonly<Record<string, unknown>>;

export class MistakesFixture {
  readonly workspace = newWorkspace('mistakes');
  readonly leader: TestAgent;
  readonly worker: TestAgent;
  readonly viewer: TestAgent;
  readonly expired: string;

  private constructor(agents: readonly TestAgent[], expired: string) {
    const [leader, worker, viewer] = agents;
    assert.ok(leader && worker && viewer);
    this.leader = leader;
    this.worker = worker;
    this.viewer = viewer;
    this.expired = expired;
  }

  static async open(): Promise<MistakesFixture> {
    const roles = ['leader', 'worker', 'viewer'] as const;
    const agents = await Promise.all(roles.map((role) => registerAgent('mistaken', { role })));
    const fixture = new MistakesFixture(agents, await expiredCredential(agents[1]?.id ?? ''));
    const repositories = ['sartor-ai/*', 'octocat/*'];
    const person = { token: await tokenOf('person') };
    await fixture.made('access_create_workspace', { name: fixture.workspace, repositories }, person);
    await fixture.made('coordination_init_coordination', { goal: 'Learn from mistakes' });
    return fixture;
  }

  url(path = '', query: Readonly<Record<string, string>> = {}): string {
    return endpointUrl(path, { workspace: this.workspace, ...query });
  }

  /** Makes a valid call, by default as the leader, and returns the result. */
  async made(tool: string, args: Fields = {}, by: Pick<TestAgent, 'token'> = this.leader): Promise<Fields> {
    const { json, text } = await request(this.url(), by.token, 'tools/call', {
      params: { name: tool, arguments: args },
    });
    const result = isRecord(json) ? json['result'] : undefined;
    assert.ok(isRecord(result) && result['isError'] !== true, `${tool}: ${text}`);
    const { structuredContent } = result;
    assert.ok(isRecord(structuredContent));
    return structuredContent;
  }

  /** Calls a tool, and returns the text that a model sees: the text of the result, or the message of the error. */
  async call(tool: string, args: unknown, options: { by?: TestAgent; path?: string } = {}): Promise<string> {
    const { by = this.leader, path = '' } = options;
    return seen(await request(this.url(path), by.token, 'tools/call', { params: { name: tool, arguments: args } }));
  }

  /** Sends an HTTP request, and returns what a person sees: the status and the body. */
  async http(url: string, init: RequestInit = {}): Promise<string> {
    const headers = { ...headersFor(this.leader.token), ...init.headers };
    const { status, text } = await send(url, { method: 'POST', ...init, headers });
    return `HTTP ${status} ${text}`;
  }
}

function seen({ status, json, text }: HttpResponse): string {
  if (!isRecord(json)) return `HTTP ${status} ${text}`;
  const { result, error } = json;
  if (isRecord(error)) return String(error['message']);
  assert.ok(isRecord(result) && result['isError'] === true, `the call has succeeded: ${text}`);
  const { content } = result;
  assert.ok(Array.isArray(content));
  return String(content[0].text);
}

/** Creates an additional credential of an agent, which has already expired. */
async function expiredCredential(agentId: string): Promise<string> {
  const apiKey = `mk_${agentId
    .replace(/[^a-z2-7]/g, '')
    .padEnd(20, 'x')
    .slice(0, 20)}`;
  const secret = 'a-secret-that-was-good-once';
  const [createdAt, expiresAt] = [new Date('2025-01-01'), new Date('2025-04-01')];
  const credential = {
    api_key: apiKey,
    agent_id: agentId,
    secret_hash: systemHashing.sha256(secret),
    created_at: createdAt,
    expires_at: expiresAt,
    ancestors: [],
  };
  await firestore().doc(credentialPath(apiKey)).set(credentialToDocument(credential));
  return `${apiKey}.${secret}`;
}
