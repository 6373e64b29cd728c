/**
 * Spreads a session over more documents when many work in it at once. Firestore sustains about one write in a second to
 * one document, so what every change of a task writes beside the task, a gate and a counter, must not be one document.
 * Source: docs/decisions/0046-gates.md; https://firebase.google.com/docs/firestore/best-practices#updates_to_a_single_document
 */
import { z } from 'zod';
import { Service, unlessUnreadable } from '../../../kernel/ports.ts';
import { unlessStale } from '../../../kernel/waiting.ts';
import type { CoordinationPorts } from './ports.ts';

/** Over how many documents a session is spread that is opened. */
export const LEAST_SPREAD = 8;

/** The most: what is read to add the counters up. */
const MOST_SPREAD = 64;

/** One write in this time is what a document takes. */
const MILLISECONDS_A_WRITE = 1000;

/** Of how many changes of tasks one has the session looked at. */
const LOOKED_AT = 50;

const place = z.object({ workspace: z.string(), session: z.string() });

export class SessionSpreading extends Service<CoordinationPorts> {
  /**
   * Is told of each change of a task, and looks at the load of its session now and then.
   * @param written the task's document, as an event has it
   */
  async taskChanged(written: unknown): Promise<void> {
    const task = place.safeParse(written).data;
    if (task === undefined || this.ports.randomness.integer(LOOKED_AT) !== 0) return;
    await this.look(task.workspace, task.session);
  }

  /** Doubles the spread of the workspace's open session if its documents are written too often. */
  async look(workspace: string, session: string): Promise<void> {
    const { sessions, store } = this.ports;
    // Of a session that cannot be read the tools say so: the function that looks here would only be called again.
    const open = await unlessUnreadable(sessions.current(workspace));
    if (open?.session.id !== session) return;
    const before = open.session.spread;
    if (before >= MOST_SPREAD) return;
    const { ages } = await sessions.counters(workspace, session);
    if (!isBusy(ages, before)) return;
    const spread = Math.min(MOST_SPREAD, 2 * before);
    const spreading = { session: { ...open.session, spread }, before, version: open.sessionVersion };
    await unlessStale(store.commit([{ kind: 'spreadSession', ...spreading }]));
  }
}

/**
 * Whether documents are written more often than they take it. Each change of a task writes one of them by chance, so
 * that the mean of the times since they were written is about the time between two writes of one.
 * @param ages milliseconds since each of them was written
 * @param spread over how many they are to be spread
 */
export function isBusy(ages: readonly number[], spread: number): boolean {
  if (ages.length < spread) return false;
  return ages.reduce((sum, age) => sum + age, 0) < ages.length * MILLISECONDS_A_WRITE;
}
