/** Metrics of the last hour's calls, across all instances. */
import { withTimeout } from '../../../kernel/concurrency.ts';
import { Service } from '../../../kernel/ports.ts';
import type { Counts } from '../../../limits/rules/callMetrics.ts';
import type { CallsBetween, SystemPorts } from './ports.ts';

export const WINDOW_MS = 3_600_000;
const CACHE_TTL_MS = 15_000;

/** The timeout is short, because a response can omit the metrics. */
const READ_TIMEOUT_MS = 1000;

export type CallHistory = CallsBetween;

export class RecentCalls extends Service<SystemPorts> {
  private cached: { readonly at: number; readonly history: CallHistory } | undefined;
  private reading: Promise<CallHistory> | undefined;

  /** Returns the counts of the last hour's calls; undefined if they cannot be read. */
  async lastHour(): Promise<CallHistory | undefined> {
    const { clock, log } = this.ports;
    const now = clock.now().getTime();
    if (this.cached !== undefined && now - this.cached.at < CACHE_TTL_MS) return this.cached.history;
    try {
      // While a request is pending, no second one is sent to a database that may not be responding.
      this.reading ??= this.read(now).finally(() => {
        this.reading = undefined;
      });
      return await withTimeout(this.reading, READ_TIMEOUT_MS, 'The counts of calls');
    } catch (error) {
      log.warn('metrics_not_read', { error });
      return undefined;
    }
  }

  private async read(now: number): Promise<CallHistory> {
    const { metricsReader } = this.ports;
    const history = await metricsReader.between(new Date(now - WINDOW_MS), new Date(now));
    this.cached = { at: now, history };
    return history;
  }
}

/** Returns the share of calls that succeeded, from 0 to 1; undefined if there were no calls. */
export function successRate({ calls, failures }: Counts): number | undefined {
  return calls === 0 ? undefined : (calls - failures) / calls;
}

/** Returns up to `max` called tools, ordered by most failures, then by most calls. */
export function mostFailing(tools: CallHistory['tools'], max: number) {
  const called = [...tools].filter(([, { calls }]) => calls > 0);
  called.sort(
    ([name, one], [otherName, other]) =>
      other.failures - one.failures || other.calls - one.calls || (name < otherName ? -1 : 1),
  );
  return called.slice(0, max);
}
