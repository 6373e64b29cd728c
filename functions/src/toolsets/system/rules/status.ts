/**
 * Health of the services that Muster uses. Source: the network specification, system.getSystemStatus;
 * docs/semantics.md#network.
 */
import { withTimeout } from '../../../kernel/concurrency.ts';
import { Service } from '../../../kernel/ports.ts';
import type { RateLimit } from '../../github/index.ts';
import type { SystemPorts } from './ports.ts';

const SERVICES = ['firestore', 'realtimeDatabase', 'github'] as const;
type ServiceName = (typeof SERVICES)[number];

export interface Reading {
  readonly isUp: boolean;
  /** Milliseconds from the request to the response or the timeout. */
  readonly milliseconds: number;
  readonly at: Date;
  readonly rateLimit?: RateLimit;
}

export type Readings = Partial<Readonly<Record<ServiceName, Reading>>>;

/** Timeouts of health checks. The Realtime Database responds quickly or not at all, so its timeout is short. */
const PROBE_TIMEOUT_MS: Readonly<Record<ServiceName, number>> = {
  firestore: 2000,
  realtimeDatabase: 1000,
  github: 2000,
};

const CACHE_TTL_MS = 15_000;

export interface StatusPorts extends SystemPorts {
  readonly workQueue: { stats(workspace: string): Promise<{ readonly total: number }> };
}

export class SystemStatus extends Service<StatusPorts> {
  private cached: { readonly until: number; readonly readings: Promise<Readings> } | undefined;
  /** Pending health checks. While one is pending, no second request is sent, because the service may be down. */
  private readonly pending = new Map<ServiceName, Promise<RateLimit | undefined>>();

  /** Returns the latest results of all health checks, which all callers share for a short time. */
  readings(): Promise<Readings> {
    const now = this.now().getTime();
    if (this.cached === undefined || this.cached.until <= now)
      this.cached = { until: now + CACHE_TTL_MS, readings: this.probeAll() };
    return this.cached.readings;
  }

  now(): Date {
    return this.ports.clock.now();
  }

  /** Returns the numbers of agents and tasks of a workspace; undefined if Firestore does not respond in time. */
  workload(workspace: string) {
    const { directory, workQueue } = this.ports;
    const counted = Promise.all([directory.counts(workspace), workQueue.stats(workspace)]);
    return withTimeout(counted, PROBE_TIMEOUT_MS.firestore, 'Firestore').then(
      ([{ online }, { total }]) => ({ activeAgents: online, tasksInQueue: total }),
      () => undefined,
    );
  }

  /** Returns alerts about cleanup jobs that have long been behind; none if Firestore does not respond in time. */
  warnAboutSweep(): Promise<readonly Alert[]> {
    const state = withTimeout(this.ports.sweepRecord.read(), PROBE_TIMEOUT_MS.firestore, 'Firestore');
    return state.then(
      ({ behind }) =>
        Object.entries(behind)
          .filter(([, { since }]) => this.now().getTime() - since.getTime() >= BEHIND_ALERT_MS)
          .map(([part, { since }]) => ({
            level: 'warning',
            message: `The cleanup job "${part}" has been behind since ${since.toISOString()}. It runs every minute.`,
            at: since,
          })),
      () => [],
    );
  }

  /** Returns the paths of documents that were unreadable in the last hour; undefined if they cannot be read. */
  unreadable(): Promise<readonly string[] | undefined> {
    const recent = this.ports.unreadable.recent();
    return withTimeout(recent, PROBE_TIMEOUT_MS.realtimeDatabase, 'The Realtime Database').catch(() => undefined);
  }

  private async probeAll(): Promise<Readings> {
    const present = SERVICES.filter((service) => service !== 'github' || this.ports.gitHub.configured);
    const readings = present.map(async (service) => [service, await this.probe(service)] as const);
    return Object.fromEntries(await Promise.all(readings));
  }

  private async probe(service: ServiceName): Promise<Reading> {
    const started = performance.now();
    const outcome = await withTimeout(this.ask(service), PROBE_TIMEOUT_MS[service], service).then(
      (rateLimit) => ({ isUp: true, ...(rateLimit && { rateLimit }) }),
      () => ({ isUp: false }),
    );
    return { ...outcome, milliseconds: Math.round(performance.now() - started), at: this.now() };
  }

  private ask(service: ServiceName): Promise<RateLimit | undefined> {
    const asked = this.pending.get(service);
    if (asked !== undefined) return asked;
    const { probes, gitHub } = this.ports;
    const answer = service === 'github' ? gitHub.rateLimit() : probes[service]().then(() => undefined);
    const asking = answer.finally(() => this.pending.delete(service));
    this.pending.set(service, asking);
    return asking;
  }
}

/** Returns `critical` if Firestore fails, because nothing works then, and `degraded` if another service fails. */
export function healthOf(readings: Readings): 'healthy' | 'degraded' | 'critical' {
  if (readings.firestore?.isUp === false) return 'critical';
  return SERVICES.some((service) => readings[service]?.isUp === false) ? 'degraded' : 'healthy';
}

interface Alert {
  readonly level: 'warning' | 'critical';
  readonly message: string;
  readonly at: Date;
}

const OUTAGE_EFFECTS: Readonly<Record<ServiceName, Pick<Alert, 'level' | 'message'>>> = {
  firestore: {
    level: 'critical',
    message: 'Firestore does not respond: tasks, agents and to-dos cannot be read or changed.',
  },
  realtimeDatabase: {
    level: 'warning',
    message:
      'The Realtime Database does not respond. Presence, live events and rate limits are suspended; tasks are not affected.',
  },
  github: { level: 'warning', message: 'GitHub does not respond. The github tools fail until GitHub responds again.' },
};

/** A job that is behind for this long did not catch up in several sweeps, and causes an alert. */
const BEHIND_ALERT_MS = 3 * 60_000;

/** If less than this share of the hourly requests to GitHub is left, an alert is shown. */
const LOW_SHARE = 0.05;

/** Returns an alert that names only collections, because the documents may belong to anyone. */
export function unreadableAlert(paths: readonly string[], at: Date): readonly Alert[] {
  if (paths.length === 0) return [];
  const collections = [...new Set(paths.map((path) => path.split('/')[0]))].join(', ');
  const count = paths.length === 1 ? '1 stored document' : `${paths.length} stored documents`;
  const message = `${count} could not be read in the last hour and were skipped. Collections: ${collections}. The log has an event document_unreadable for each document.`;
  return [{ level: 'warning', message, at }];
}

/** Returns the current alerts, most severe first. */
export function alertsOf(readings: Readings): readonly Alert[] {
  const down = SERVICES.flatMap((service): Alert[] => {
    const reading = readings[service];
    return reading?.isUp === false ? [{ ...OUTAGE_EFFECTS[service], at: reading.at }] : [];
  });
  const { github } = readings;
  if (github?.rateLimit === undefined) return down;
  const { limit, remaining, reset } = github.rateLimit;
  if (remaining >= limit * LOW_SHARE) return down;
  const message = `GitHub allows only ${remaining} more requests until ${reset.toISOString()}; its limit is ${limit}.`;
  return [...down, { level: 'warning', message, at: github.at }];
}
