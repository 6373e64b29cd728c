/** What is noted of every call, resource and stream: a log entry, its counts, and that the agent is alive. */
import type { CallMetrics } from '../access/rules/callMetrics.ts';
import { touchPresence } from '../access/rules/liveness.ts';
import type { MusterError } from '../kernel/errors.ts';
import type { Clock, Log, Presence } from '../kernel/ports.ts';
import type { Waiting } from '../kernel/waiting.ts';
import { WaitingTime } from './callContext.ts';
import type { RequestContext } from './requestContext.ts';

export interface ObservationPorts {
  readonly presence: Presence;
  readonly metrics: CallMetrics;
  readonly clock: Clock;
  readonly log: Log;
}

interface Observation {
  /** What the caller was refused with; undefined where it was answered. */
  error: MusterError | undefined;
  /** Leaves the time of a wait out of the call's own. */
  readonly waiting: Waiting;
  /** Logs and counts the call, and waits for presence to be noted, which began with the call. */
  end(): Promise<unknown>;
}

/** @param tool its full name, or the URI of a resource as its toolset lists it: nothing that a caller chose */
export function observe(ports: ObservationPorts, requestContext: RequestContext, tool: string): Observation {
  const now = () => performance.now();
  const started = now();
  const waits = new WaitingTime(now);
  const { principal, requestId, workspace } = requestContext;
  const { uid, agentId } = principal;
  const noting = agentId === undefined ? undefined : touchPresence(ports.presence, ports.log, agentId);
  return {
    error: undefined,
    waiting: waits.during,
    end() {
      const waited = Math.round(waits.milliseconds);
      const milliseconds = Math.max(0, Math.round(now() - started) - waited);
      const ofAgent = agentId === undefined ? {} : { agentId };
      const outcome = this.error?.code ?? 'OK';
      const reason = this.error?.details.reason;
      const ended = reason === undefined ? { outcome } : { outcome, reason };
      ports.log.info('call', {
        requestId,
        principal: uid,
        ...ofAgent,
        tool,
        workspace,
        ...ended,
        milliseconds,
        ...(waited > 0 && { waited }),
      });
      const at = ports.clock.now();
      return Promise.all([noting, ports.metrics.record({ tool, ...ofAgent, outcome, milliseconds, at })]);
    },
  };
}
