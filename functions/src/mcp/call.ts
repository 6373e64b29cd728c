/** Runs one call of a tool, from its raw arguments to its answer. */
import type { CallMetrics } from '../access/rules/callMetrics.ts';
import { touchPresence } from '../access/rules/liveness.ts';
import { hasRole, type Principal, type Role } from '../access/rules/principal.ts';
import type { CallLimits } from '../access/rules/rateLimiter.ts';
import type { Operation } from '../kernel/commit.ts';
import { MusterError } from '../kernel/errors.ts';
import type { Clock, Log, Presence } from '../kernel/ports.ts';
import type { Waiting } from '../kernel/waiting.ts';
import { type Outcome, presentable, textWithinBounds, withinBounds } from './answer.ts';
import {
  type CallContext,
  type ProgressToken,
  progressNotification,
  type RequestContext,
  type Services,
  WaitingTime,
} from './callContext.ts';
import {
  type IdempotencyPorts,
  type Late,
  LOOK_FIRST,
  type Punctuality,
  requireTime,
  runOnce,
  UNKEYED,
  withDeadline,
} from './idempotency.ts';
import { fullName } from './names.ts';
import type { FoundResource, FoundTemplate } from './resources.ts';
import type { FoundTool, Tool } from './tool.ts';

export interface CallPorts extends IdempotencyPorts, ObservationPorts {
  readonly services: () => Services;
  readonly limits: CallLimits;
}

type Notify = CallContext['notify'];

/** What a client is told before the answer. */
interface Telling {
  readonly notify: Notify;
  readonly progressToken?: ProgressToken | undefined;
  /** What an answer takes as it is sent. */
  readonly bytesOf: (json: string) => number;
}

/** For a caller who is told nothing before the answer, and gets that once. */
const UNTOLD: Telling = { notify: () => undefined, bytesOf: Buffer.byteLength };

/** Calls a tool. Never throws: what goes wrong is in the outcome. */
export async function callTool(
  ports: CallPorts,
  requestContext: RequestContext,
  { toolset, tool }: FoundTool,
  rawArguments: Readonly<Record<string, unknown>>,
  telling: Telling = UNTOLD,
): Promise<Outcome> {
  const name = fullName(toolset, tool.name);
  const observation = observe(ports, requestContext, name);
  let late = LOOK_FIRST;
  const ifLate = (said: Late): void => {
    late = said;
  };
  try {
    await ports.limits.take(requestContext.principal);
    authorise(requestContext.principal, toolset, tool.role, name);
    const prepared = tool.prepare(rawArguments);
    requireTime(requestContext.timeLeft);
    const { principal, workspace, credential } = requestContext;
    const identity = { uid: principal.uid, tool: name, workspace, credential };
    const work = runOnce(ports, identity, prepared, (operation) =>
      contextOf(ports, requestContext, operation, { ...telling, ifLate }, observation.waiting),
    );
    const named = work.catch((error: unknown) => {
      throw namingOwnArgument(error, tool);
    });
    const answer = await withDeadline(named, requestContext.timeLeft(), () => late);
    return { answer: withinBounds(tool, answer, telling.bytesOf) };
  } catch (thrown) {
    const error = presentable(thrown, requestContext.requestId, name, ports.log);
    observation.error = error;
    return { error };
  } finally {
    await observation.end();
  }
}

/** @throws MusterError as its reader may see it */
export function readResource(
  ports: CallPorts,
  requestContext: RequestContext,
  { toolset, what, mimeType, role, resource }: FoundResource,
): Promise<string> {
  return observed(ports, requestContext, what, async () => {
    await ports.limits.take(requestContext.principal);
    authorise(requestContext.principal, toolset, role, what);
    return textWithinBounds(mimeType, await resource.read(readingContext(ports, requestContext)));
  });
}

/**
 * The values that a variable of a template may have.
 * @throws MusterError as its reader may see it
 */
export async function completeVariable(
  ports: CallPorts,
  requestContext: RequestContext,
  { toolset, template }: FoundTemplate,
  variable: string,
  chosen: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const what = template.uriTemplate;
  return observed(ports, requestContext, `complete ${what}`, async () => {
    authorise(requestContext.principal, toolset, template.role, what);
    return (await template.completions.get(variable)?.(readingContext(ports, requestContext), chosen)) ?? [];
  });
}

/** What is read is timed, logged and counted as calls are. */
async function observed<T>(
  ports: CallPorts,
  requestContext: RequestContext,
  what: string,
  read: () => Promise<T>,
): Promise<T> {
  const observation = observe(ports, requestContext, what);
  try {
    requireTime(requestContext.timeLeft);
    return await withDeadline(read(), requestContext.timeLeft());
  } catch (error) {
    const shown = presentable(error, requestContext.requestId, what, ports.log);
    observation.error = shown;
    throw shown;
  } finally {
    await observation.end();
  }
}

/** The context of what is read: it settles nothing, notifies nobody and waits for nobody. */
export function readingContext(ports: CallPorts, requestContext: RequestContext): CallContext {
  const telling = { ...UNTOLD, ifLate: () => undefined };
  return contextOf(ports, requestContext, UNKEYED, telling, (wait) => wait);
}

function contextOf(
  ports: CallPorts,
  requestContext: RequestContext,
  operation: Operation,
  { notify, progressToken, ifLate }: Pick<Telling, 'notify' | 'progressToken'> & Pick<Punctuality, 'ifLate'>,
  waiting: Waiting,
): CallContext {
  const { credential: _, ...request } = requestContext;
  return {
    ...request,
    caller: requestContext,
    operation,
    waiting,
    notify,
    ifLate,
    progress(progress) {
      if (progressToken === undefined) return;
      notify(progressNotification(progressToken, progress));
    },
    services: ports.services(),
  };
}

// The one gate in front of every tool and resource. Source: docs/semantics.md#who-may-do-what.

/** Whether the principal may use the toolset at all. */
export function mayUse(principal: Principal, toolset: string): boolean {
  return principal.toolsets === undefined || principal.toolsets.includes(toolset);
}

/**
 * @param what the tool or resource, as its caller knows it
 * @throws MusterError FORBIDDEN
 */
export function authorise(principal: Principal, toolset: string, least: Role, what: string): void {
  if (!mayUse(principal, toolset)) {
    throw new MusterError('FORBIDDEN', `You may not use the toolset ${toolset}.`, {
      reason: 'TOOLSET_NOT_ALLOWED',
      suggestion: `Your toolsets: ${principal.toolsets?.join(', ') || 'none'}. Ask a leader for a credential with ${toolset}.`,
    });
  }
  if (!hasRole(principal.role, least)) {
    throw new MusterError('FORBIDDEN', `${what} needs the role ${least}; yours is ${principal.role}.`, {
      reason: 'ROLE_TOO_WEAK',
      suggestion: `Ask an agent or a person with the role ${least}, or for a credential with that role.`,
    });
  }
}

// Errors name the argument as its tool does: the domain has one name for what some tools write in another
// way.

/** @param error whatever the tool's handler has thrown */
export function namingOwnArgument(error: unknown, { input }: Pick<Tool, 'input'>): unknown {
  if (!(error instanceof MusterError) || error.details.field === undefined) return error;
  const [first = '', ...rest] = error.details.field.split('.');
  const own = Object.keys(input.shape);
  const name = own.find((one) => one === first) ?? own.find((one) => folded(one) === folded(first));
  if (name === undefined || name === first) return error;
  const details = { ...error.details, field: [name, ...rest].join('.'), cause: error.cause };
  return new MusterError(error.code, error.message, details);
}

/** `task_id` and `taskId` are one. */
function folded(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

// What is noted of every call, resource and stream: a log entry, its counts, and that the agent is alive.

interface ObservationPorts {
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
