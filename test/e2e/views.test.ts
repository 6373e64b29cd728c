/**
 * Tests the views in a host that is built with the official SDK. The host reads the views from the real endpoint. It
 * runs them with the SDK's `app-bridge`, which forwards their tool calls to the endpoint.
 */
import assert from 'node:assert/strict';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { AppBridge, getToolUiResourceUri } from '@modelcontextprotocol/ext-apps/app-bridge';
import { z } from 'zod';
import { REPORT, RUN, STATUS, TODOS } from '../support/sampleResponses.ts';
import { heading, useStage } from '../views/support/fixture.ts';
import { type Message, ViewFrame } from '../views/support/frame.ts';
import { resultOf, VIEWS, type ViewName } from '../views/support/views.ts';
import { succeed } from './support/calls.ts';
import { type Connection, connectAt } from './support/clients.ts';
import { endpointUrl } from './support/endpoint.ts';
import { newPerson } from './support/people.ts';
import { eventually } from './support/waiting.ts';

const ANSWERS: Readonly<Record<ViewName, Message>> = { goal: STATUS, todos: TODOS, run: RUN, coding: REPORT };
const message = z.custom<JSONRPCMessage>((value) => typeof value === 'object' && value !== null);

/** Transports messages between the bridge of the host and the page of the view. */
class FrameTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (output: JSONRPCMessage) => void;
  private readonly frame: ViewFrame;

  constructor(frame: ViewFrame) {
    this.frame = frame;
  }

  async start(): Promise<void> {
    this.frame.listen((output) => this.onmessage?.(message.parse(output)));
  }

  send(output: JSONRPCMessage): Promise<void> {
    return this.frame.say({ ...output });
  }

  async close(): Promise<void> {
    this.onclose?.();
  }
}

describe('the view', () => {
  const fixture = useStage();

  /** Opens a view in a host, and waits until the view is initialized. */
  async function opened(name: ViewName, capabilities: ConstructorParameters<typeof AppBridge>[2]) {
    const frame = await ViewFrame.open(fixture.browser(), fixture.chat());
    const bridge = new AppBridge(null, { name: 'official-host', version: '1.0.0' }, capabilities, {
      hostContext: { theme: 'light', displayMode: 'inline', platform: 'web' },
    });
    const heights: number[] = [];
    const errors: unknown[] = [];
    bridge.onerror = (error) => errors.push(error);
    bridge.addEventListener('sizechange', ({ height }) => {
      if (height === undefined) return;
      heights.push(height);
      void frame.resize(height).catch(() => undefined);
    });
    bridge.addEventListener('sandboxready', () => {
      void bridge.sendSandboxResourceReady({ html: fixture.pages()[name], sandbox: 'allow-scripts', csp: {} });
    });
    const initialized = new Promise<void>((resolve) => bridge.addEventListener('initialized', () => resolve()));
    await bridge.connect(new FrameTransport(frame));
    await initialized;
    const end = async () => {
      await bridge.teardownResource({});
      assert.deepEqual([errors, frame.complaints], [[], []]);
      await frame.close();
    };
    return { bridge, frame, heights, end };
  }

  for (const name of VIEWS)
    it(`${name} connects to a host of the official SDK, shows a result, and uses the host's theme`, async () => {
      const { bridge, frame, heights, end } = await opened(name, {});
      assert.match(bridge.getAppVersion()?.name ?? '', /muster/i);
      await bridge.sendToolInput({ arguments: {} });
      await bridge.sendToolResult({ ...resultOf(ANSWERS[name]), content: [{ type: 'text', text: 'As text.' }] });
      const view = await frame.view();
      await heading(view).waitFor();
      await eventually('the view reports its height', async () => heights.at(-1) ?? undefined);
      const scheme = () => view.evaluate('getComputedStyle(document.documentElement).colorScheme');
      bridge.setHostContext({ theme: 'dark', displayMode: 'inline', platform: 'web' });
      await eventually('the view is dark', async () => ((await scheme()) === 'dark' ? true : undefined));
      await end();
    });

  it('todos is referenced by todo_list_tasks, and completes a to-do through its host', async () => {
    const { token } = await newPerson();
    const client: Connection = await connectAt('client 2026-07-28', endpointUrl(), token);
    try {
      const title = 'Water the plants';
      const { task } = z
        .object({ task: z.object({ id: z.string() }) })
        .parse(await succeed(client, 'todo_add_task', { title }));
      const tool = (await client.listTools()).find((one) => one.name === 'todo_list_tasks');
      const { _meta } = z.object({ _meta: z.record(z.string(), z.unknown()) }).parse(tool);
      assert.equal(getToolUiResourceUri({ _meta }), 'ui://muster/todos');
      for (const name of VIEWS) assert.equal(await client.read(`ui://muster/${name}`), fixture.pages()[name]);
      const { bridge, frame, end } = await opened('todos', { serverTools: {}, updateModelContext: { text: {} } });
      const called: string[] = [];
      bridge.oncalltool = async ({ name, arguments: given }) => {
        called.push(name);
        const { isError, structured, text } = await client.call(name, given ?? {});
        return { content: [{ type: 'text', text }], structuredContent: structured, isError };
      };
      const contexts: unknown[] = [];
      bridge.onupdatemodelcontext = async (reported) => {
        contexts.push(reported);
        return {};
      };
      const { structured, text } = await client.call('todo_list_tasks', {});
      await bridge.sendToolInput({ arguments: {} });
      await bridge.sendToolResult({ content: [{ type: 'text', text }], structuredContent: structured });
      const view = await frame.view();
      await view.getByRole('checkbox', { name: `Done: ${title}` }).click();
      await eventually('the to-do is completed', async () => {
        const { tasks } = await succeed(client, 'todo_search_tasks', { query: title });
        return JSON.stringify(tasks).includes('"completed":true') || undefined;
      });
      assert.ok(called.includes('todo_complete_task'));
      await eventually('the model is notified', async () => JSON.stringify(contexts).includes(task.id) || undefined);
      await end();
    } finally {
      await client.close();
    }
  });

  it('goal shows no buttons if its host does not let views call tools', async () => {
    const { bridge, frame, end } = await opened('goal', {});
    await bridge.sendToolResult({ ...resultOf(STATUS), content: [{ type: 'text', text: 'As text.' }] });
    const view = await frame.view();
    await heading(view).waitFor();
    assert.equal(await view.getByRole('button', { name: /Retry/ }).count(), 0);
    await end();
  });
});
