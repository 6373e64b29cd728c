/** The two MCP SDKs sign in knowing only the URL, either by registration or with a client document. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { UnauthorizedError as OlderUnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { close, listen } from '../support/listening.ts';
import { call } from './support/app.ts';
import { Deployment, type Someone } from './support/deployment.ts';
import { EVERYTHING, Visitor } from './support/visitor.ts';

const REDIRECT = 'http://127.0.0.1:45454/callback';
const DOCUMENT = 'https://app.example/client.json';

/** Stores the tokens and client data of the SDK, and the address to which the SDK would send the browser. */
class Keeper implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata = { client_name: 'SDK', redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' };
  readonly clientMetadataUrl?: string;
  sentTo: URL | undefined;
  private information: OAuthClientInformationMixed | undefined;
  private kept: OAuthTokens | undefined;
  private verifier = '';

  constructor(document: string | undefined) {
    if (document !== undefined) this.clientMetadataUrl = document;
  }

  clientInformation() {
    return this.information;
  }
  saveClientInformation(information: OAuthClientInformationMixed) {
    this.information = information;
  }
  tokens() {
    return this.kept;
  }
  saveTokens(tokens: OAuthTokens) {
    this.kept = tokens;
  }
  redirectToAuthorization(url: URL) {
    this.sentTo = url;
  }
  saveCodeVerifier(verifier: string) {
    this.verifier = verifier;
  }
  codeVerifier() {
    return this.verifier;
  }
}

const newer = (url: URL, authProvider: Keeper) => ({
  client: new Client({ name: 'newer', version: '1.0.0' }),
  transport: new StreamableHTTPClientTransport(url, { authProvider }),
  refused: UnauthorizedError,
});

const older = (url: URL, authProvider: Keeper) => ({
  client: new OlderClient({ name: 'older', version: '1.0.0' }),
  transport: new OlderTransport(url, { authProvider }),
  refused: OlderUnauthorizedError,
});

describe('MCP SDKs', () => {
  let deployment: Deployment;
  let ada: Someone;

  before(async () => {
    deployment = await Deployment.start();
    ada = await deployment.person('Ada', 'leader');
    const document = { client_id: DOCUMENT, client_name: 'SDK by document', redirect_uris: [REDIRECT] };
    deployment.documents.texts.set(DOCUMENT, JSON.stringify(document));
  });
  after(() => deployment?.stop());
  afterEach(() => deployment.moveBack());

  /** Approves the sign-in as a person in a browser would, and returns the code. */
  async function approve({ sentTo }: Keeper, agentName: string): Promise<string> {
    assert.ok(sentTo);
    const back = await new Visitor().allow(sentTo, ada, { ...EVERYTHING, agentName });
    assert.equal(back.searchParams.get('iss'), deployment.origin);
    return back.searchParams.get('code') ?? '';
  }

  it("sign in below a function's path if another service owns the root", async () => {
    const prefix = '/demo/us-central1/mcp';
    let answer: ReturnType<Deployment['front']> | undefined;
    const emulator = createServer((request, response) => {
      const { url = '' } = request;
      if (!url.startsWith(prefix)) return void response.writeHead(404).end('{}');
      request.url = url.slice(prefix.length) || '/';
      void answer?.(request, response);
    });
    const base = `${await listen(emulator)}${prefix}`;
    answer = deployment.front({ publicUrl: deployment.origin, functionUrl: base });
    const keeper = new Keeper(undefined);
    const first = newer(new URL(base), keeper);
    await assert.rejects(first.client.connect(first.transport), first.refused);
    const back = await new Visitor().allow(keeper.sentTo ?? '', ada, { ...EVERYTHING, agentName: 'at a path' });
    assert.equal(back.searchParams.get('iss'), base);
    await first.transport.finishAuth(back.searchParams);
    const second = newer(new URL(base), keeper);
    await second.client.connect(second.transport);
    const { structuredContent } = await second.client.callTool({ name: 'access_whoami', arguments: {} });
    assert.match(JSON.stringify(structuredContent), /"at a path"/);
    await second.client.close();
    const token = keeper.tokens()?.access_token ?? '';
    assert.equal((await call(deployment, token, 'access.whoami')).status, 401, 'the token is valid only there');
    await close(emulator);
  });

  for (const [way, document] of [
    ['registers', undefined],
    ['has a document', DOCUMENT],
  ] as const) {
    it(`the newer SDK ${way}, signs in, calls a tool and refreshes its token`, async () => {
      const keeper = new Keeper(document);
      const url = new URL(deployment.mcp);
      const first = newer(url, keeper);
      await assert.rejects(first.client.connect(first.transport), first.refused);
      const code = await approve(keeper, `newer ${way}`);
      await first.transport.finishAuth(new URLSearchParams({ code, iss: deployment.origin }));
      const second = newer(url, keeper);
      await second.client.connect(second.transport);
      const { structuredContent } = await second.client.callTool({ name: 'access_whoami', arguments: {} });
      assert.match(JSON.stringify(structuredContent), new RegExp(`"newer ${way}"`));
      const before = keeper.tokens()?.access_token;
      deployment.move(3601_000);
      await second.client.callTool({ name: 'access_whoami', arguments: {} });
      assert.notEqual(keeper.tokens()?.access_token, before);
      await second.client.close();
    });

    it(`the older SDK ${way}, signs in, calls a tool and refreshes its token`, async () => {
      const keeper = new Keeper(document);
      const url = new URL(deployment.mcp);
      const first = older(url, keeper);
      await assert.rejects(first.client.connect(first.transport), first.refused);
      await first.transport.finishAuth(await approve(keeper, `older ${way}`));
      const second = older(url, keeper);
      await second.client.connect(second.transport);
      const { structuredContent } = await second.client.callTool({ name: 'access_whoami', arguments: {} });
      assert.match(JSON.stringify(structuredContent), new RegExp(`"older ${way}"`));
      const before = keeper.tokens()?.access_token;
      deployment.move(3601_000);
      await second.client.callTool({ name: 'access_whoami', arguments: {} });
      assert.notEqual(keeper.tokens()?.access_token, before);
      await second.client.close();
    });
  }
});
