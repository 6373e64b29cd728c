/** Metrics of the last hour's calls, across all instances. */

import { Service } from '../../../kernel/ports.ts';
import { inTime } from '../../../kernel/waiting.ts';
import type { Counts } from '../../../limits/rules/callMetrics.ts';
import type { CallsBetween, SystemPorts } from './ports.ts';

/** Period that the metrics cover. */
export const WINDOW_MILLISECONDS = 3_600_000;

/** Cache TTL. */
const KEPT_MILLISECONDS = 15_000;

/** Short, because the metrics are optional in responses. */
const WAIT_MILLISECONDS = 1000;

export type CallHistory = CallsBetween;

export class RecentCalls extends Service<SystemPorts> {
  private kept: { readonly at: number; readonly history: CallHistory } | undefined;
  private reading: Promise<CallHistory> | undefined;

  /** Returns the last hour's calls; undefined if they cannot be read. */
  async lastHour(): Promise<CallHistory | undefined> {
    const { clock, log } = this.ports;
    const now = clock.now().getTime();
    if (this.kept !== undefined && now - this.kept.at < KEPT_MILLISECONDS) return this.kept.history;
    try {
      // An unresponsive database gets no second request while the first is pending.
      this.reading ??= this.read(now).finally(() => {
        this.reading = undefined;
      });
      return await inTime(this.reading, WAIT_MILLISECONDS, 'The counts of calls');
    } catch (error) {
      log.warn('metrics_not_read', { error });
      return undefined;
    }
  }

  private async read(now: number): Promise<CallHistory> {
    const { metricsReader } = this.ports;
    const history = await metricsReader.between(new Date(now - WINDOW_MILLISECONDS), new Date(now));
    this.kept = { at: now, history };
    return history;
  }
}

/** Returns the share of calls that succeeded; undefined without calls. */
export function successRate({ calls, failures }: Counts): number | undefined {
  return calls === 0 ? undefined : (calls - failures) / calls;
}

/** Returns the called tools, ordered by most failures, then by most calls. */
export function mostFailing(tools: CallHistory['tools'], most: number) {
  const called = [...tools].filter(([, { calls }]) => calls > 0);
  called.sort(
    ([name, one], [otherName, other]) =>
      other.failures - one.failures || other.calls - one.calls || (name < otherName ? -1 : 1),
  );
  return called.slice(0, most);
}
