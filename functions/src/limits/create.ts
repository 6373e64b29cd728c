import type { KernelPorts } from '../kernel/ports.ts';
import type { realtimeDatabase } from '../kernel/realtime/database.ts';
import { CallRecorder } from './rules/callMetrics.ts';
import { type RateLimit, RateLimiter, UNLIMITED } from './rules/rateLimiter.ts';
import { DatabaseLimitLedger, DatabaseMetricsLedger } from './store/ledgers.ts';

export interface LimitDependencies {
  readonly kernel: KernelPorts;
  readonly realtime: typeof realtimeDatabase;
  /** If undefined, calls are not limited. */
  readonly rateLimit: RateLimit | undefined;
}

/** Creates the services for rate limits and call metrics. */
export function createLimits({ kernel, realtime: database, rateLimit }: LimitDependencies) {
  const given = { database, clock: kernel.clock };
  const ledgers = { limits: new DatabaseLimitLedger(given), metrics: new DatabaseMetricsLedger(given) };
  const callMetrics = new CallRecorder(ledgers.metrics, kernel);
  const limits = rateLimit ? new RateLimiter(rateLimit, ledgers.limits, kernel) : UNLIMITED;
  return { ledgers, callMetrics, ports: { limits, metrics: callMetrics } };
}
