/** A host that accepts a message only if the protocol allows it at that time. Source: MCP Apps, 2026-01-26. */
import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { z } from 'zod';
import { eventually } from '../../e2e/support/waiting.ts';
import { type Message, type openChat, ViewFrame } from './frame.ts';

const message = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.number(), z.string()]).optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.strictObject({ code: z.int(), message: z.string() }).optional(),
});
type Said = z.output<typeof message>;

/** Schemas of the params of each method that a view may call. */
const REQUESTS: Readonly<Record<string, z.ZodType>> = {
  'ui/initialize': z.strictObject({
    appInfo: z.strictObject({ name: z.string(), version: z.string() }),
    appCapabilities: z.strictObject({ availableDisplayModes: z.array(z.enum(['inline', 'fullscreen', 'pip'])) }),
    protocolVersion: z.literal('2026-01-26'),
  }),
  'tools/call': z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()) }),
  'ui/open-link': z.strictObject({ url: z.url({ protocol: /^https$/ }) }),
  'ui/update-model-context': z.strictObject({
    content: z.array(z.strictObject({ type: z.literal('text'), text: z.string() })),
  }),
};

const NOTIFICATIONS: Readonly<Record<string, z.ZodType>> = {
  'ui/notifications/initialized': z.strictObject({}),
  'ui/notifications/size-changed': z.strictObject({ width: z.int().positive(), height: z.int().positive() }),
};

/** The result of a tool, or the JSON-RPC error of the host. */
export type ToolAnswer =
  | { readonly result: Message }
  | { readonly error: { readonly code: number; readonly message: string } };

export interface HostSettings {
  readonly html: string;
  readonly context?: Message;
  /** Capabilities in addition to those that follow from the other options. */
  readonly capabilities?: Message;
  /** If omitted, the view may not call tools. */
  readonly call?: (name: string, toolArguments: Message) => Promise<ToolAnswer>;
  readonly hasClock?: boolean;
}

const REFUSED: ToolAnswer = { error: { code: -32601, message: 'Views may not call tools here.' } };

export class StrictHost {
  readonly frame: ViewFrame;
  /** Methods of all messages that the view has sent, in order. */
  readonly received: string[] = [];
  readonly calls: { readonly name: string; readonly arguments: Message }[] = [];
  readonly links: string[] = [];
  /** The context for the model that the view set last. It replaces all earlier contexts. */
  modelContext: string | undefined;
  size: { readonly width: number; readonly height: number } | undefined;
  /** Violations of the protocol by the view. */
  readonly faults: string[] = [];
  private fixture: 'new' | 'greeted' | 'initialized' | 'ended' = 'new';
  private readonly ids = new Set<string | number>();
  private readonly settings: HostSettings;
  private readonly replies = new Map<string | number, (output: Said) => void>();
  private lastId = 0;
  private answers: Promise<unknown> = Promise.resolve();

  private constructor(frame: ViewFrame, settings: HostSettings) {
    this.frame = frame;
    this.settings = settings;
  }

  /** Shows the view, and waits until the view is ready. */
  static async show(
    browser: Browser,
    chat: Awaited<ReturnType<typeof openChat>>,
    settings: HostSettings,
  ): Promise<StrictHost> {
    const host = new StrictHost(await ViewFrame.open(browser, chat, settings), settings);
    host.frame.listen((output) => host.hear(output));
    await eventually('the view is initialized', async () => host.fixture === 'initialized' || undefined);
    return host;
  }

  /** Sends the arguments of a call and then its result to the view. */
  async give(toolArguments: Message, result: Message): Promise<void> {
    await this.notify('ui/notifications/tool-input', { arguments: toolArguments });
    await this.notify('ui/notifications/tool-result', result);
  }

  notify(method: string, params: Message): Promise<void> {
    assert.equal(this.fixture, 'initialized', 'a host sends nothing before the view is initialized');
    return this.frame.say({ jsonrpc: '2.0', method, params });
  }

  /** Sends a request to the view, and returns the response. */
  async request(method: string, params: Message = {}): Promise<Said> {
    this.lastId += 1;
    const id = `host-${this.lastId}`;
    const reply = new Promise<Said>((resolve) => this.replies.set(id, resolve));
    await this.frame.say({ jsonrpc: '2.0', id, method, params });
    return reply;
  }

  /** Waits until the view has processed all answers sent so far. The view receives messages in their order. */
  async settled(): Promise<void> {
    await this.answers;
    await this.request('ping');
  }

  /** Asks the view to end, and asserts that the view has not violated the protocol. */
  async end(): Promise<void> {
    assert.deepEqual((await this.request('ui/resource-teardown', { reason: 'The chat goes on.' })).result, {});
    this.fixture = 'ended';
    assert.deepEqual(this.faults, []);
    assert.deepEqual(this.frame.complaints, []);
    await this.frame.close();
  }

  private hear(raw: Message): void {
    const { success, data: output, error } = message.safeParse(raw);
    if (!success) this.faults.push(`${JSON.stringify(raw)}: ${error.message}`);
    else if (output.method === 'ui/notifications/sandbox-proxy-ready') void this.load();
    else if (output.method === undefined) this.takeReply(output);
    else this.take(output.method, output);
  }

  private load(): Promise<void> {
    const { html } = this.settings;
    const params = { html, sandbox: 'allow-scripts', csp: {} };
    return this.frame.say({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-resource-ready', params });
  }

  private takeReply(output: Said): void {
    const reply = this.replies.get(output.id ?? '');
    if (reply === undefined) this.faults.push(`a reply to nothing: ${JSON.stringify(output)}`);
    else reply(output);
  }

  private take(method: string, { id, params = {} }: Said): void {
    this.received.push(method);
    const shape = (id === undefined ? NOTIFICATIONS : REQUESTS)[method];
    const checked = shape?.safeParse(params);
    if (checked === undefined) this.faults.push(`${method} is not to be sent`);
    else if (!checked.success) this.faults.push(`${method}: ${checked.error.message}`);
    this.holdOrder(method);
    if (id === undefined) {
      this.note(method, params);
      return;
    }
    if (this.ids.has(id)) this.faults.push(`the id ${id} is used twice`);
    this.ids.add(id);
    const answered = this.answer(method, params).then((answer) => this.frame.say({ jsonrpc: '2.0', id, ...answer }));
    this.answers = Promise.all([this.answers, answered]);
  }

  private holdOrder(method: string): void {
    const expected = { new: 'ui/initialize', greeted: 'ui/notifications/initialized' } as const;
    if (this.fixture === 'ended') this.faults.push(`${method} after the end`);
    if (this.fixture !== 'new' && this.fixture !== 'greeted') {
      if (Object.values<string>(expected).includes(method)) this.faults.push(`${method} again`);
      return;
    }
    if (method !== expected[this.fixture]) this.faults.push(`${method} before ${expected[this.fixture]}`);
    this.fixture = this.fixture === 'new' ? 'greeted' : 'initialized';
  }

  private note(method: string, params: Message): void {
    if (method !== 'ui/notifications/size-changed') return;
    const { width, height } = z.object({ width: z.number(), height: z.number() }).parse(params);
    this.size = { width, height };
    void this.frame.resize(height).catch(() => undefined); // The page may already be closed.
  }

  private async answer(method: string, params: Message): Promise<ToolAnswer> {
    if (method === 'ui/initialize') return { result: this.greeting() };
    if (method === 'ui/open-link') this.links.push(String(params['url']));
    if (method === 'ui/update-model-context') this.modelContext = JSON.stringify(params['content']);
    if (method !== 'tools/call') return { result: {} };
    const { name, arguments: given } = z
      .object({ name: z.string(), arguments: z.record(z.string(), z.unknown()) })
      .parse(params);
    this.calls.push({ name, arguments: given });
    return (await this.settings.call?.(name, given)) ?? REFUSED;
  }

  private greeting(): Message {
    const { capabilities = {}, call, context = {} } = this.settings;
    return {
      protocolVersion: '2026-01-26',
      hostInfo: { name: 'strict-host', version: '1.0.0' },
      hostCapabilities: {
        openLinks: {},
        updateModelContext: { text: {} },
        ...(call && { serverTools: {} }),
        ...capabilities,
      },
      hostContext: { displayMode: 'inline', platform: 'web', ...context },
    };
  }
}
