/** Opens `/mcp/events` streams for a test, and closes them after that test. */
import assert from 'node:assert/strict';
import type { RunningEndpoint } from '../../support/mcp-endpoint.ts';
import { EventStream, type ReceivedFrame } from '../../support/sse.ts';
import { LogStage } from './logFixture.ts';

export interface Asked {
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly at?: RunningEndpoint;
  readonly method?: string;
}

export class EventsStage extends LogStage {
  private readonly streams: EventStream[] = [];

  constructor() {
    super();
    afterEach(() => {
      for (const stream of this.streams.splice(0)) stream.close();
    });
  }

  async ask({ query = {}, headers = {}, at = this.endpoint, method = 'GET' }: Asked = {}): Promise<EventStream> {
    const search = new URLSearchParams({ subscriptionId: this.subscriptionId, ...query });
    const stream = await EventStream.open(`${at.url}/mcp/events?${search}`, {
      method,
      headers: { Authorization: 'Bearer leader-key', Accept: 'text/event-stream', ...headers },
    });
    this.streams.push(stream);
    return stream;
  }

  /** Opens a stream and reads its first frame, which every stream sends. */
  async open(asked: Asked = {}): Promise<EventStream> {
    const stream = await this.ask(asked);
    assert.equal(stream.response.status, 200);
    assert.deepEqual(await stream.next(), { retry: '1000' });
    return stream;
  }
}

/** Returns the parsed event data of a frame. */
export function dataOf({ data = '' }: ReceivedFrame): unknown {
  return (JSON.parse(data) as { params: { data: unknown } }).params.data;
}
