/** Runs one call of a tool, from its raw arguments to its answer. */
import type { Operation } from '../domain/idempotency/operation.ts';
import type { CallLimits } from '../domain/limits/limiter.ts';
import type { Services } from '../domain/services.ts';
import type { Waiting } from '../domain/waiting.ts';
import { textWithinBounds, withinBounds } from './answerBounds.ts';
import { authorise } from './authorisation.ts';
import type { CallContext } from './callContext.ts';
import { type Late, LOOK_FIRST, type Punctuality, requireTime, withDeadline } from './deadline.ts';
import type { Exchange } from './exchange.ts';
import { type IdempotencyPorts, runOnce, UNKEYED } from './idempotency.ts';
import { fullName } from './names.ts';
import { type ObservationPorts, observe } from './observation.ts';
import { namingOwnArgument } from './ownArgument.ts';
import { type ProgressToken, progressNotification } from './progress.ts';
import { type Outcome, presentable } from './projection.ts';
import type { FoundResource, FoundTemplate } from './resources.ts';
import type { FoundTool } from './tool.ts';

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
  let late = LOOK_FIRST;
  const ifLate = (said: Late): void => {
    late = said;
  };
  try {
    await ports.limits.take(exchange.principal);
    authorise(exchange.principal, toolset, tool.role, name);
    const prepared = tool.prepare(rawArguments);
    requireTime(exchange.timeLeft);
    const { principal, workspace, credential } = exchange;
    const identity = { uid: principal.uid, tool: name, workspace, credential };
    const work = runOnce(ports, identity, prepared, (operation) =>
      contextOf(ports, exchange, operation, { ...telling, ifLate }, observation.waiting),
    );
    const named = work.catch((error: unknown) => {
      throw namingOwnArgument(error, tool);
    });
    const answer = await withDeadline(named, exchange.timeLeft(), () => late);
    return { answer: withinBounds(tool, answer, telling.bytesOf) };
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
    requireTime(exchange.timeLeft);
    return await withDeadline(read(), exchange.timeLeft());
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
  const telling = { ...UNTOLD, ifLate: () => undefined };
  return contextOf(ports, exchange, UNKEYED, telling, (wait) => wait);
}

function contextOf(
  ports: CallPorts,
  exchange: Exchange,
  operation: Operation,
  { notify, progressToken, ifLate }: Pick<Telling, 'notify' | 'progressToken'> & Pick<Punctuality, 'ifLate'>,
  waiting: Waiting,
): CallContext {
  const { credential: _, ...request } = exchange;
  return {
    ...request,
    caller: exchange,
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
