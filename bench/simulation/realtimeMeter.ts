/** Counts the operations and bytes of the Realtime Database in the messages that its client logs. */
import { z } from 'zod';

export interface RealtimeBill {
  readonly writes: number;
  readonly bytesDown: number;
}

/** The client logs a connection's number, then the message as JSON. Source: @firebase/database, PersistentConnection. */
const SENT = /^p:\d+: (\{"r":\d+,"a":.*)$/;
const RECEIVED = /^p:\d+: (?:from server|handleServerMessage d):? (\{.*\})$/;
const sent = z.object({ r: z.int(), a: z.string() });
const received = z.object({ r: z.int().optional(), b: z.object({ s: z.string() }).partial().optional() });

/** Actions that write: put and merge. A transaction is a put that the server can refuse. */
const WRITES = ['p', 'm'];

export class RealtimeMeter {
  private writes = 0;
  private bytesDown = 0;
  private readonly underWay = new Set<number>();

  async open(): Promise<void> {
    const { enableLogging } = await import('firebase-admin/database');
    enableLogging((message: string) => this.hear(message.trim()));
  }

  /** Returns the counts since the previous call of this function. */
  take(): RealtimeBill {
    const { writes, bytesDown } = this;
    [this.writes, this.bytesDown] = [0, 0];
    return { writes, bytesDown };
  }

  private hear(message: string): void {
    const [, request] = SENT.exec(message) ?? [];
    if (request !== undefined) {
      const { r: number, a: action } = sent.parse(JSON.parse(request));
      if (WRITES.includes(action)) this.underWay.add(number);
    }
    const [, answer] = RECEIVED.exec(message) ?? [];
    if (answer === undefined) return;
    this.bytesDown += Buffer.byteLength(answer);
    const { r: number, b } = received.parse(JSON.parse(answer));
    if (number !== undefined && this.underWay.delete(number) && b?.s === 'ok') this.writes += 1;
  }
}
