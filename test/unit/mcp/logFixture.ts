/** MCP endpoints over HTTP for tests, with an event log in memory and one subscription per test. */
import assert from 'node:assert/strict';
import type { Principal } from '../../../functions/src/identity/rules/principal.ts';
import { MemoryEventLog } from '../../support/event-log.ts';
import { systemToolset } from '../../support/fixture-toolset.ts';
import { LEADER, memoryPorts, type RunningEndpoint, serveEndpoint } from '../../support/mcp-endpoint.ts';
import { streamingToolset } from '../../support/streaming-toolset.ts';

export const UID = LEADER.uid;
const toolsets = [systemToolset, streamingToolset({ waiting: 0, missing: 0 })];

/** Endpoints that share one event log. Create an instance within a `describe`. */
export class LogStage {
  readonly ports = memoryPorts();
  readonly log = new MemoryEventLog();
  private readonly endpoints: RunningEndpoint[] = [];
  private served: RunningEndpoint | undefined;
  private count = 0;

  constructor() {
    const { principals } = this.ports;
    before(async () => {
      principals.set('confined', { ...LEADER, toolsets: ['system'] } satisfies Principal);
      principals.set('other', { ...LEADER, uid: 'agent:other', agent_id: 'other' } satisfies Principal);
      this.served = await this.serve();
    });
    beforeEach(() => {
      this.count += 1;
      this.log.begin(UID, this.subscriptionId);
    });
    after(() => Promise.all(this.endpoints.map((endpoint) => endpoint.close())));
  }

  get endpoint(): RunningEndpoint {
    assert.ok(this.served);
    return this.served;
  }

  /** Id of the subscription that belongs to the running test. */
  get subscriptionId(): string {
    return `sub-${this.count}`;
  }

  async serve(overrides: Partial<Parameters<typeof serveEndpoint>[0]> = {}): Promise<RunningEndpoint> {
    const services = () => ({ subscriptions: this.log }) as never;
    const endpoint = await serveEndpoint({ ...this.ports, services, toolsets, ...overrides });
    this.endpoints.push(endpoint);
    return endpoint;
  }
}
