/** Runs one call of a tool, from its raw arguments to its answer. */
import { MusterError } from '../domain/errors.ts';
import type { Operation } from '../domain/idempotency/operation.ts';
import type { JsonObject } from '../domain/json.ts';
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

/** Presence is worth no more waiting than this. */
const PRESENCE_MS = 1_000;

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
  const run = async (): Promise<JsonObject> => {
    authorise(exchange.principal, toolset, tool.role, name);
    const prepared = tool.prepare(rawArguments);
    const { principal, workspace, credential } = exchange;
    return runOnce(ports, { uid: principal.uid, tool: name, workspace, credential }, prepared, (operation) =>
      contextOf(ports, exchange, operation),
    );
  };
  try {
    return answered(await observed(ports, exchange, name, run));
  } catch (error) {
    return refused(toolset, presentable(error, exchange.requestId, name, ports.log));
  }
}

/** @throws MusterError as its reader may see it */
export async function readResource(
  ports: CallPorts,
  exchange: Exchange,
  { toolset, resource }: FoundResource,
): Promise<string> {
  const run = async (): Promise<string> => {
    authorise(exchange.principal, toolset, resource.role, resource.uri);
    return resource.read(contextOf(ports, exchange, UNKEYED));
  };
  try {
    return await observed(ports, exchange, resource.uri, run);
  } catch (error) {
    throw presentable(error, exchange.requestId, resource.uri, ports.log);
  }
}

function contextOf(ports: CallPorts, exchange: Exchange, operation: Operation): CallContext {
  const { principal, workspace, requestId, baseUrl } = exchange;
  return { principal, workspace, requestId, operation, services: ports.services(), baseUrl };
}

/** Notes the caller's presence beside the work, holds the work to its deadline, and logs how it went. */
async function observed<T>(ports: CallPorts, exchange: Exchange, what: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const seen = notePresence(ports, exchange);
  let outcome = 'OK';
  try {
    return await withDeadline(work(), DEADLINE_MS);
  } catch (error) {
    outcome = error instanceof MusterError ? error.code : 'INTERNAL';
    throw error;
  } finally {
    const milliseconds = Math.round(performance.now() - started);
    await seen;
    ports.log.info('call', {
      requestId: exchange.requestId,
      uid: exchange.principal.uid,
      what,
      workspace: exchange.workspace,
      outcome,
      milliseconds,
    });
  }
}

async function notePresence({ presence, log }: CallPorts, { principal, requestId }: Exchange): Promise<void> {
  if (principal.agentId === undefined) return;
  try {
    await withDeadline(presence.touch(principal.agentId), PRESENCE_MS);
  } catch (error) {
    log.warn('presence_not_noted', { requestId, agentId: principal.agentId, error });
  }
}

/** @throws MusterError TIMEOUT where the work takes longer; the work itself goes on */
export async function withDeadline<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const suggestion = 'Look whether it took effect before you repeat it, or repeat it with its idempotency_key.';
      reject(new MusterError('TIMEOUT', `No answer within ${milliseconds / 1000} seconds.`, { suggestion }));
    }, milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
