/**
 * Whether the services that Muster stands on answer.
 * Source: the network specification, system.getSystemStatus; docs/semantics.md#network.
 */

import { Service } from '../../../kernel/ports.ts';
import { inTime } from '../../../kernel/waiting.ts';
import type { RateLimit } from '../../github/index.ts';
import type { SystemPorts } from './ports.ts';

/** What is asked for its health. */
const SERVICES = ['firestore', 'realtimeDatabase', 'github'] as const;

type ServiceName = (typeof SERVICES)[number];

/** What one service was like when it was asked. */
export interface Reading {
  readonly isUp: boolean;
  /** Until it answered, or until it was given up. */
  readonly milliseconds: number;
  readonly at: Date;
  readonly rateLimit?: RateLimit;
}

export type Readings = Partial<Readonly<Record<ServiceName, Reading>>>;

/** How long a service is waited for. The Realtime Database answers at once or not at all, and others wait for it too. */
const WAIT_MILLISECONDS: Readonly<Record<ServiceName, number>> = {
  firestore: 2000,
  realtimeDatabase: 1000,
  github: 2000,
};

/** How long readings are good for. */
const KEPT_MILLISECONDS = 15_000;

export interface StatusPorts extends SystemPorts {
  readonly workQueue: { stats(workspace: string): Promise<{ readonly total: number }> };
}

export class SystemStatus extends Service<StatusPorts> {
  private kept: { readonly until: number; readonly readings: Promise<Readings> } | undefined;
  /** Probes that have not ended: a service that is away is not asked ever more. */
  private readonly pending = new Map<ServiceName, Promise<RateLimit | undefined>>();

  /** Of all services at once; the same serve all callers for a while. */
  readings(): Promise<Readings> {
    const now = this.now().getTime();
    if (this.kept === undefined || this.kept.until <= now)
      this.kept = { until: now + KEPT_MILLISECONDS, readings: this.probeAll() };
    return this.kept.readings;
  }

  now(): Date {
    return this.ports.clock.now();
  }

  /** What there is to do in a workspace, and who is there to do it; undefined where Firestore does not tell in time. */
  workload(workspace: string) {
    const { directory, workQueue } = this.ports;
    const counted = Promise.all([directory.counts(workspace), workQueue.stats(workspace)]);
    return inTime(counted, WAIT_MILLISECONDS.firestore, 'Firestore').then(
      ([{ online }, { total }]) => ({ activeAgents: online, tasksInQueue: total }),
      () => undefined,
    );
  }

  /** The parts that the sweep has not got done for a while; none where Firestore does not tell in time. */
  sweepAlerts(): Promise<readonly Alert[]> {
    const state = inTime(this.ports.sweepRecord.read(), WAIT_MILLISECONDS.firestore, 'Firestore');
    return state.then(
      ({ behind }) =>
        Object.entries(behind)
          .filter(([, { since }]) => this.now().getTime() - since.getTime() >= BEHIND_MILLISECONDS)
          .map(([part, { since }]) => ({
            level: 'warning',
            message: `The sweep has been behind with its part "${part}" since ${since.toISOString()}; it goes on every minute.`,
            at: since,
          })),
      () => [],
    );
  }

  /** The stored documents that could not be read in the last hour; undefined where nobody tells in time. */
  unreadable(): Promise<readonly string[] | undefined> {
    const recent = this.ports.unreadable.recent();
    return inTime(recent, WAIT_MILLISECONDS.realtimeDatabase, 'The Realtime Database').catch(() => undefined);
  }

  private async probeAll(): Promise<Readings> {
    const present = SERVICES.filter((service) => service !== 'github' || this.ports.gitHub.configured);
    const readings = present.map(async (service) => [service, await this.probe(service)] as const);
    return Object.fromEntries(await Promise.all(readings));
  }

  private async probe(service: ServiceName): Promise<Reading> {
    const started = performance.now();
    const outcome = await inTime(this.ask(service), WAIT_MILLISECONDS[service], service).then(
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

/** Without Firestore nothing works; without the others, some things do not. */
export function healthOf(readings: Readings): 'healthy' | 'degraded' | 'critical' {
  if (readings.firestore?.isUp === false) return 'critical';
  return SERVICES.some((service) => readings[service]?.isUp === false) ? 'degraded' : 'healthy';
}

interface Alert {
  readonly level: 'warning' | 'critical';
  readonly message: string;
  readonly at: Date;
}

const WITHOUT: Readonly<Record<ServiceName, Pick<Alert, 'level' | 'message'>>> = {
  firestore: {
    level: 'critical',
    message: 'Firestore does not answer: tasks, agents and to-dos cannot be read or changed.',
  },
  realtimeDatabase: {
    level: 'warning',
    message:
      'The Realtime Database does not answer: presence, live events and rate limits are suspended; tasks go on.',
  },
  github: { level: 'warning', message: 'GitHub does not answer: the github tools fail until it does.' },
};

/** A part of the sweep that is behind for longer does not catch up in the next one. */
const BEHIND_MILLISECONDS = 3 * 60_000;

/** GitHub is as good as away when less than this share of the hour's requests is left. */
const LOW_SHARE = 0.05;

/** Says of which collections they are, and not which: they may be anybody's. */
export function unreadableAlert(paths: readonly string[], at: Date): readonly Alert[] {
  if (paths.length === 0) return [];
  const collections = [...new Set(paths.map((path) => path.split('/')[0]))].join(', ');
  const count = paths.length === 1 ? '1 stored document' : `${paths.length} stored documents`;
  const message = `${count} could not be read in the last hour and were left out, of: ${collections}. The log names each, at document_unreadable.`;
  return [{ level: 'warning', message, at }];
}

/** What is wrong, worst first. */
export function alertsOf(readings: Readings): readonly Alert[] {
  const down = SERVICES.flatMap((service): Alert[] => {
    const reading = readings[service];
    return reading?.isUp === false ? [{ ...WITHOUT[service], at: reading.at }] : [];
  });
  const { github } = readings;
  if (github?.rateLimit === undefined) return down;
  const { limit, remaining, reset } = github.rateLimit;
  if (remaining >= limit * LOW_SHARE) return down;
  const message = `GitHub allows ${remaining} of ${limit} requests until ${reset.toISOString()}.`;
  return [...down, { level: 'warning', message, at: github.at }];
}
