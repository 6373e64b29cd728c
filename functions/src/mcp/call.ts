/** Runs one call of a tool, from its raw arguments to its answer. */
import { MusterError } from '../domain/errors.ts';
import type { Operation } from '../domain/idempotency/operation.ts';
import type { CallLimits } from '../domain/limits/limiter.ts';
import type { Services } from '../domain/services.ts';
import type { Waiting } from '../domain/waiting.ts';
import { textWithinBounds, withinBounds } from './answerBounds.ts';
import { authorise } from './authorisation.ts';
import type { FoundTool } from './catalogue.ts';
import type { Exchange } from './exchange.ts';
import { type IdempotencyPorts, runOnce, UNKEYED } from './idempotency.ts';
import { fullName } from './names.ts';
import { type ObservationPorts, observe } from './observation.ts';
import { namingOwnArgument } from './ownArgument.ts';
import { type ProgressToken, progressNotification } from './progress.ts';
import { type Outcome, presentable } from './projection.ts';
import type { FoundResource, FoundTemplate } from './resources.ts';
import type { CallContext } from './tool.ts';

/** Under the 60 s after which clients give up, so that it is us who answer. */
const DEADLINE_MS = 50_000;

export interface CallPorts extends IdempotencyPorts, ObservationPorts {
  readonly services: () => Services;
  readonly limits: CallLimits;
}

type Notify = CallContext['notify'];

/** What a client is told before the answer. */
export interface Telling {
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
  exchange: Exchange,
  { toolset, tool }: FoundTool,
  rawArguments: Readonly<Record<string, unknown>>,
  telling: Telling = UNTOLD,
): Promise<Outcome> {
  const name = fullName(toolset, tool.name);
  const observation = observe(ports, exchange, name);
  try {
    await ports.limits.take(exchange.principal);
    authorise(exchange.principal, toolset, tool.role, name);
    const prepared = tool.prepare(rawArguments);
    const { principal, workspace, credential } = exchange;
    const identity = { uid: principal.uid, tool: name, workspace, credential };
    const work = runOnce(ports, identity, prepared, (operation) =>
      contextOf(ports, exchange, operation, telling, observation.waiting),
    );
    const named = work.catch((error: unknown) => {
      throw namingOwnArgument(error, tool);
    });
    return { answer: withinBounds(tool, await withDeadline(named, DEADLINE_MS), telling.bytesOf) };
  } catch (thrown) {
    const error = presentable(thrown, exchange.requestId, name, ports.log);
    observation.error = error;
    return { error };
  } finally {
    await observation.end();
  }
}

/** @throws MusterError as its reader may see it */
export function readResource(
  ports: CallPorts,
  exchange: Exchange,
  { toolset, what, mimeType, role, resource }: FoundResource,
): Promise<string> {
  return observed(ports, exchange, what, async () => {
    await ports.limits.take(exchange.principal);
    authorise(exchange.principal, toolset, role, what);
    return textWithinBounds(mimeType, await resource.read(readingContext(ports, exchange)));
  });
}

/**
 * The values that a variable of a template may have.
 * @throws MusterError as its reader may see it
 */
export async function completeVariable(
  ports: CallPorts,
  exchange: Exchange,
  { toolset, template }: FoundTemplate,
  variable: string,
  chosen: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const what = template.uriTemplate;
  return observed(ports, exchange, `complete ${what}`, async () => {
    authorise(exchange.principal, toolset, template.role, what);
    return (await template.completions.get(variable)?.(readingContext(ports, exchange), chosen)) ?? [];
  });
}

/** What is read is timed, logged and counted as calls are. */
async function observed<T>(
  ports: CallPorts,
  exchange: Exchange,
  what: string,
  read: () => Promise<T>,
): Promise<T> {
  const observation = observe(ports, exchange, what);
  try {
    return await withDeadline(read(), DEADLINE_MS);
  } catch (error) {
    const shown = presentable(error, exchange.requestId, what, ports.log);
    observation.error = shown;
    throw shown;
  } finally {
    await observation.end();
  }
}

/** The context of what is read: it settles nothing, notifies nobody and waits for nobody. */
export function readingContext(ports: CallPorts, exchange: Exchange): CallContext {
  return contextOf(ports, exchange, UNKEYED, UNTOLD, (wait) => wait);
}

function contextOf(
  ports: CallPorts,
  exchange: Exchange,
  operation: Operation,
  { notify, progressToken }: Pick<Telling, 'notify' | 'progressToken'>,
  waiting: Waiting,
): CallContext {
  const { credential: _, ...request } = exchange;
  return {
    ...request,
    caller: exchange,
    operation,
    waiting,
    notify,
    progress(progress) {
      if (progressToken === undefined) return;
      notify(progressNotification(progressToken, progress));
    },
    services: ports.services(),
  };
}

/** @throws MusterError TIMEOUT where the work takes longer; the work itself goes on */
export function withDeadline<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const suggestion =
        'Look whether it took effect before you repeat it, or repeat it with its idempotency_key.';
      reject(new MusterError('TIMEOUT', `No answer within ${milliseconds / 1000} seconds.`, { suggestion }));
    }, milliseconds);
    const settle =
      <V>(next: (value: V) => void) =>
      (value: V) => {
        clearTimeout(timer);
        next(value);
      };
    work.then(settle(resolve), settle(reject));
  });
}
