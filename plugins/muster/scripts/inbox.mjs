// @ts-check
/** Reads and watches the inboxes of agents, over MCP 2026-07-28 without packages. */

const REVISION = '2026-07-28';
const TIMEOUT_MS = 20_000;

/** The hub sends a comment every 15 seconds. After this time without one, the connection counts as broken. */
const SILENCE_MS = 50_000;

/** @typedef {import('./waking.mjs').Inbox} Inbox */

export class InboxClient {
  #endpoint;
  #token;
  #fetch;

  /** @param {{ endpoint: string | URL, token: string, fetch?: typeof globalThis.fetch }} hub */
  constructor({ endpoint, token, fetch = globalThis.fetch }) {
    const { origin, pathname, searchParams } = new URL(endpoint);
    const workspace = searchParams.get('workspace');
    // Only `/mcp` without a selection of toolsets has both the inbox and the toolset of whoami.
    this.#endpoint = new URL(pathname.replace(/\/mcp\/.*$/, '/mcp'), origin);
    if (workspace !== null) this.#endpoint.searchParams.set('workspace', workspace);
    this.#token = token;
    this.#fetch = fetch;
  }

  /** Identifies the hub, the workspace and the credential. */
  get scope() {
    return `${this.#endpoint} ${this.#token}`;
  }

  /** @returns {Promise<string>} id of the credential's agent @throws Error if the hub does not return one */
  async whoami() {
    const { structuredContent } = await this.#call('tools/call', { name: 'access_whoami', arguments: {} });
    const { id } = structuredContent.agent;
    if (typeof id !== 'string') throw new Error('the credential belongs to no agent');
    return id;
  }

  /** @param {string} agent @returns {Promise<Inbox>} @throws Error if the inbox cannot be read */
  async read(agent) {
    const { contents } = await this.#call('resources/read', { uri: uriOf(agent) });
    return JSON.parse(contents[0].text);
  }

  /**
   * Yields an agent after each change of its inbox, until the hub ends the stream.
   * @param {readonly string[]} agents @param {AbortSignal} end
   * @returns {AsyncGenerator<string, void, void>}
   * @throws Error if the hub refuses the stream, or the connection breaks
   */
  async *changes(agents, end) {
    const agentOf = new Map(agents.map((agent) => [uriOf(agent), agent]));
    const silence = new AbortController();
    let timer = setTimeout(() => silence.abort(), SILENCE_MS);
    try {
      const params = { notifications: { resourceSubscriptions: [...agentOf.keys()] } };
      const { body } = await this.#post('subscriptions/listen', params, AbortSignal.any([end, silence.signal]));
      let rest = '';
      for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), SILENCE_MS);
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const agent = agentOf.get(line.startsWith('data:') ? JSON.parse(line.slice(5)).params?.uri : undefined);
          if (agent !== undefined) yield agent;
        }
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** @param {string} method @param {Record<string, unknown>} params @returns {Promise<any>} @throws Error if the call fails */
  async #call(method, params) {
    const response = await this.#post(method, params, AbortSignal.timeout(TIMEOUT_MS));
    const { result, error } = await answerIn(response);
    if (error !== undefined || result.isError) throw new Error(`${method} failed`);
    return result;
  }

  /** @param {string} method @param {Record<string, unknown>} params @param {AbortSignal} signal */
  async #post(method, params, signal) {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': REVISION,
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'muster-listen', version: '1' },
    };
    const name = params['name'] ?? params['uri'];
    const response = await this.#fetch(this.#endpoint, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${this.#token}`,
        Accept: 'application/json, text/event-stream',
        'Content-Type': 'application/json',
        'MCP-Protocol-Version': REVISION,
        'Mcp-Method': method,
        ...(typeof name === 'string' && { 'Mcp-Name': name }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
      redirect: 'error', // A redirect could lead to another host, or from https to http.
      signal,
    });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return response;
  }
}

/** @param {string} agent */
function uriOf(agent) {
  return `inbox://agents/${encodeURIComponent(agent)}`;
}

/** Returns the JSON-RPC response of an HTTP response with JSON or with server-sent events. @param {Response} response */
async function answerIn(response) {
  const body = await response.text();
  if (!response.headers.get('Content-Type')?.startsWith('text/event-stream')) return JSON.parse(body);
  const answers = body.split('\n').filter((line) => line.startsWith('data:'));
  return JSON.parse(answers.at(-1)?.slice(5) ?? '{}');
}
