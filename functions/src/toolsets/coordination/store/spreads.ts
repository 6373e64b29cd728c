/** Over how many documents the counters of a session are spread, as an instance knows it. */
import { BoundedMap } from '../../../kernel/memoCache.ts';
import type { Session } from '../rules/session.ts';
import { LEAST_SPREAD } from '../rules/spreading.ts';

/** How many sessions an instance remembers. */
const MAX_REMEMBERED = 1000;

/**
 * What changes a task counts it, and has not always read its session. Whoever adds the counters up adds up all there
 * are, so an instance that knows less of a session's load only meets others a little more often.
 */
export class SessionSpreads {
  private readonly remembered = new BoundedMap<string, number>(MAX_REMEMBERED);

  note({ id, spread }: Pick<Session, 'id' | 'spread'>): void {
    this.remembered.set(id, spread);
  }

  of(session: string): number {
    return this.remembered.get(session) ?? LEAST_SPREAD;
  }
}
