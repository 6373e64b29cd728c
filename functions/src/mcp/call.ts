/** Runs one call of a tool, from its raw arguments to its answer. */
import { noteSeen } from '../domain/agents/sighting.ts';
import { type ErrorCode, MusterError } from '../domain/errors.ts';
import type { Operation } from '../domain/idempotency/operation.ts';
import type { Log, Presence } from '../domain/ports.ts';
import type { Principal } from '../domain/principal.ts';
import type { Services } from '../domain/services.ts';
import { authorise } from './authorisation.ts';
import type { FoundResource, FoundTool } from './catalogue.ts';
import { type IdempotencyPorts, runOnce, UNKEYED } from './idempotency.ts';
import { fullName } from './names.ts';
import { answered, presentable, refused, type ToolResult } from './projection.ts';
import type { CallContext } from './tool.ts';

/** Under the function's own 60 s, so that it is us who answer. */
const DEADLINE_MS = 50_000;

/** One authenticated HTTP request, which may carry several calls. */
export interface Exchange {
  readonly principal: Principal;
  /** The bearer credential, for secrets derived from it. */
  readonly credential: string;
  readonly workspace: string;
  readonly requestId: string;
  readonly baseUrl: string;
}

export interface CallPorts extends IdempotencyPorts {
  readonly services: () => Services;
  readonly presence: Presence;
  readonly log: Log;
}

/** Calls a tool. Never throws: what goes wrong is in the result. */
export async function callTool(
  ports: CallPorts,
  exchange: Exchange,
  { toolset, tool }: FoundTool,
  rawArguments: Readonly<Record<string, unknown>>,
): Promise<ToolResult> {
  const name = fullName(toolset, tool.name);
  const observation = observe(ports, exchange, name);
  try {
    authorise(exchange.principal, toolset, tool.role, name);
    const prepared = tool.prepare(rawArguments);
    const { principal, workspace, credential } = exchange;
    const identity = { uid: principal.uid, tool: name, workspace, credential };
    const work = runOnce(ports, identity, prepared, (operation) => contextOf(ports, exchange, operation));
    return answered(await withDeadline(work, DEADLINE_MS));
  } catch (error) {
    const shown = presentable(error, exchange.requestId, name, ports.log);
    observation.outcome = shown.code;
    return refused(toolset, shown);
  } finally {
    await observation.end();
  }
}

/** @throws MusterError as its reader may see it */
export async function readResource(
  ports: CallPorts,
  exchange: Exchange,
  { toolset, resource }: FoundResource,
): Promise<string> {
  const observation = observe(ports, exchange, resource.uri);
  try {
    authorise(exchange.principal, toolset, resource.role, resource.uri);
    return await withDeadline(resource.read(contextOf(ports, exchange, UNKEYED)), DEADLINE_MS);
  } catch (error) {
    const shown = presentable(error, exchange.requestId, resource.uri, ports.log);
    observation.outcome = shown.code;
    throw shown;
  } finally {
    await observation.end();
  }
}

function contextOf(ports: CallPorts, exchange: Exchange, operation: Operation): CallContext {
  const { principal, workspace, requestId, baseUrl } = exchange;
  return { principal, workspace, requestId, operation, services: ports.services(), baseUrl };
}

interface Observation {
  outcome: ErrorCode | 'OK';
  /** Writes the log's entry and waits for presence to be noted, which began with the call. */
  end(): Promise<unknown> | undefined;
}

function observe(ports: CallPorts, { principal, requestId, workspace }: Exchange, what: string): Observation {
  const started = performance.now();
  const { agentId } = principal;
  const noting = agentId === undefined ? undefined : noteSeen(ports.presence, ports.log, agentId);
  return {
    outcome: 'OK',
    end() {
      const milliseconds = Math.round(performance.now() - started);
      ports.log.info('call', {
        requestId,
        uid: principal.uid,
        what,
        workspace,
        outcome: this.outcome,
        milliseconds,
      });
      return noting;
    },
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
