/** Runs one tool call, from its raw arguments to its response. */
import {
  checkPermission,
  type PermissionCheckPorts,
  type RequiredPermission,
  requirePermission,
} from '../access/rules/permissionCheck.ts';
import type { AccessPorts } from '../access/rules/ports.ts';
import { callingAgent, touchPresence } from '../agents/rules/liveness.ts';
import { rightsOf } from '../identity/rules/principal.ts';
import type { Actor } from '../kernel/auditLog.ts';
import {
  IDEMPOTENCY_HOURS,
  type Operation,
  type RecordedResponse,
  UnknownCommitOutcomeError,
} from '../kernel/commit.ts';
import { requireTime, type TrackWait } from '../kernel/concurrency.ts';
import { keyReused, MusterError } from '../kernel/errors.ts';
import { canonicalJson, type JsonObject, sentBytes } from '../kernel/json.ts';
import type { KernelPorts, PortOf } from '../kernel/ports.ts';
import { type ApprovalPorts, withApproval } from './approval.ts';
import {
  type CallContext,
  type ElicitationQuestion,
  type McpTaskState,
  type Progress,
  presentableError,
  type RequestContext,
} from './callContext.ts';
import type { VariableCompletion } from './resource.ts';
import type { FoundResource } from './resources.ts';
import { type FoundTool, fullName, mayNeedApproval, type PreparedCall, type Tool } from './tool.ts';
import {
  CHECK_BEFORE_RETRY,
  type Outcome,
  textWithinSizeLimit,
  withinSizeLimit,
  withRequestTimeout,
} from './toolResponse.ts';

export interface CallPorts
  extends ApprovalPorts,
    IdempotencyPorts,
    PermissionCheckPorts,
    Pick<AccessPorts, 'limits' | 'presence' | 'metrics' | 'log'> {
  readonly services: () => never;
  readonly view: CallContext['view'];
  readonly keepDays: Readonly<Record<McpTaskState['kept'], number>>;
}

/** Functions that send data to the client before the response to its call. */
interface ClientChannel extends Pick<CallContext, 'notify' | 'elicitation' | 'respondWithTask'> {
  /** Token that the client sent for progress notifications; undefined if the client did not request any. */
  readonly progressToken?: string | number | undefined;
  /** Returns the size in bytes of a JSON response as it is sent. */
  readonly bytesOf: (json: string) => number;
}

/** Channel of callers that cannot receive anything before the response. */
const NO_CLIENT: ClientChannel = { notify: () => undefined, bytesOf: Buffer.byteLength };
const NO_PROGRESS: PortOf<ProgressReport> = { send: () => undefined, during: (wait) => wait };

interface ToolCallInput {
  /** Arguments as sent, before validation. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly channel?: ClientChannel;
}

/** Calls a tool. Errors are returned in the outcome and not thrown. */
export async function callTool(
  ports: CallPorts,
  received: RequestContext,
  { toolset, tool, scope }: FoundTool,
  { args, channel = NO_CLIENT }: ToolCallInput,
): Promise<Outcome> {
  const name = fullName(toolset, tool.name);
  const requestContext = { ...received, workspace: tool.workspaceIn(args) ?? received.workspace };
  const { workspace, credential, timeLeft } = requestContext;
  const { role, agentRole, annotations, openToAll } = tool;
  const need = { toolset, what: name, role, agentRole, scope, writes: !annotations.readOnlyHint, openToAll };
  const call = async (tracked: TrackWait) => {
    await ports.limits.take(received.principal);
    const admitted = await checkPermission(ports, requestContext, need);
    const { principal } = admitted;
    const prepared = tool.prepare(args);
    requireTime(timeLeft);
    const { notify, elicitation, respondWithTask, progressToken } = channel;
    const { send: progress, during } =
      progressToken === undefined ? NO_PROGRESS : new ProgressReport(notify, progressToken);
    // A caller that loses its role while the call waits does not get the result.
    const trackWait: TrackWait = async (wait) => {
      const result = await tracked(during(wait));
      const now = await ports.authenticator.authenticate(credential);
      requirePermission(now, workspace, need);
      // The rights to owner-scoped data were checked before the wait. If they have changed, the call fails.
      if (scope === 'owner' && rightsOf(now) !== rightsOf(principal))
        throw new MusterError('CONFLICT', 'Your permissions changed while the call was waiting.', {
          reason: 'RIGHTS_CHANGED',
          suggestion: 'Retry.',
        });
      return result;
    };
    let timeoutError = CHECK_BEFORE_RETRY;
    const onTimeout: CallContext['onTimeout'] = (decision) => {
      timeoutError = decision;
    };
    const identity = { by: actorOf(admitted, name), credential };
    const approved = mayNeedApproval(tool) ? withApproval(ports, admitted, { name, tool }, prepared) : prepared;
    const means = { notify, elicitation, respondWithTask, progress, onTimeout, trackWait };
    const work = runOnce(ports, identity, approved, (operation) => contextOf(ports, admitted, { operation, ...means }));
    const named = work.catch((error: unknown) => {
      throw withToolArgumentName(error, tool);
    });
    return withinSizeLimit(tool, await withRequestTimeout(named, timeLeft(), () => timeoutError), channel.bytesOf);
  };
  try {
    return { answer: await measured(ports, requestContext, { tool: name, isRoutine: tool.routine }, call) };
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    return { error };
  }
}

/** Returns the actor of a call, as the audit log records it. */
export function actorOf({ principal, workspace, requestId }: RequestContext, tool: string): Actor {
  const { uid, agent_id, owner_uid, grant } = principal;
  return {
    uid,
    ...(agent_id !== undefined && { agent_id }),
    owner_uid,
    ...(grant && { grant_id: grant.id }),
    tool,
    workspace,
    request_id: requestId,
  };
}

/** Reads a resource. @throws MusterError that may be shown to the caller */
export function readResource(ports: CallPorts, requestContext: RequestContext, found: FoundResource): Promise<string> {
  return measuredRead(ports, requestContext, { tool: found.what }, async () => {
    await ports.limits.take(requestContext.principal);
    const admitted = await checkPermission(ports, requestContext, found.need);
    return textWithinSizeLimit(found, await found.resource.read(readingContext(ports, admitted, found.what)));
  });
}

/** Variable of a resource template, or argument of a prompt. */
export interface CompletedVariable {
  readonly need: RequiredPermission;
  readonly completion: VariableCompletion | undefined;
  readonly chosen: Readonly<Record<string, string>>;
}

/** Returns possible values of a variable. @throws MusterError that may be shown to the caller */
export function completeVariable(
  ports: CallPorts,
  requestContext: RequestContext,
  { need, completion, chosen }: CompletedVariable,
): Promise<readonly string[]> {
  const { what } = need;
  return measuredRead(ports, requestContext, { tool: `complete ${what}` }, async () => {
    const context = readingContext(ports, await checkPermission(ports, requestContext, need), what);
    return (await completion?.(context, chosen)) ?? [];
  });
}

export interface ReadTask {
  readonly state: McpTaskState;
  /** Outcome of the tool; undefined unless the work has ended. */
  readonly outcome?: Outcome;
  /** Questions for which the work waits, by their ids. */
  readonly questions: ReadonlyMap<string, ElicitationQuestion>;
}

/**
 * Reads work that MCP shows as a task. The caller has already been counted towards the rate limit.
 * @throws MusterError that may be shown to the caller; NOT_FOUND if the work is missing or hidden
 */
export function readTask(
  ports: CallPorts,
  requestContext: RequestContext,
  { toolset, tool }: FoundTool,
  id: string,
): Promise<ReadTask> {
  const { requestId, directory } = requestContext;
  const what = 'tasks/get';
  // The work may be in a workspace other than that of the URL. The toolset checks the caller's role there.
  const need = { toolset, what, role: 'viewer', scope: 'owner', writes: false } as const;
  const read = async (): Promise<ReadTask> => {
    const { task } = tool;
    if (task === undefined) throw new Error(`Calls of ${tool.name} cannot become tasks.`);
    const context = readingContext(ports, await checkPermission(ports, requestContext, need), what);
    const state = await task.state(context, id);
    const { status, waitsFor } = state;
    const questions = waitsFor && (await ports.questions.pending(context.principal, waitsFor));
    if (status !== 'ended') return { state, questions: questions ?? new Map() };
    const outcome = await task.response(context, id).then(
      (answer) => ({ answer: withinSizeLimit(tool, answer, sentBytes) }),
      (error) => ({ error: withToolNames(presentableError(error, requestId, what, ports.log), directory) }),
    );
    return { state, outcome, questions: new Map() };
  };
  return measuredRead(ports, requestContext, { tool: what, isRoutine: true }, read);
}

function measuredRead<T>(
  ports: CallPorts,
  requestContext: RequestContext,
  observed: Parameters<typeof measured>[2],
  read: () => Promise<T>,
): Promise<T> {
  return measured(ports, requestContext, observed, async () => {
    requireTime(requestContext.timeLeft);
    return withRequestTimeout(read(), requestContext.timeLeft());
  });
}

/** Returns the context for reading a resource, which does not commit, notify or wait. */
export function readingContext(ports: CallPorts, requestContext: RequestContext, what: string): CallContext {
  return contextOf(ports, requestContext, {
    operation: withoutKey(actorOf(requestContext, what)),
    notify: NO_CLIENT.notify,
    progress: () => undefined,
    onTimeout: () => undefined,
    trackWait: (wait) => wait,
  });
}

function contextOf(
  ports: CallPorts,
  requestContext: RequestContext,
  call: Omit<CallContext, keyof RequestContext | 'caller' | 'services' | 'view'>,
): CallContext {
  const { credential: _, ...request } = requestContext;
  const { services, view } = ports;
  return { ...request, ...call, caller: requestContext, services: services(), view };
}

/** Replaces `task_id` in an error by the tool's name: `taskId` or `task`. In the rules, all tools share one name. */
export function withToolArgumentName(error: unknown, { input }: Pick<Tool, 'input'>): unknown {
  if (!(error instanceof MusterError) || error.details.field === undefined) return error;
  const [first = '', ...rest] = error.details.field.split('.');
  const own = Object.keys(input.shape);
  const same = (one: string) => [folded(one), `${folded(one)}id`].includes(folded(first));
  const name = own.find((one) => one === first) ?? own.find(same);
  if (name === undefined || name === first) return error;
  const details = { ...error.details, field: [name, ...rest].join('.'), cause: error.cause };
  return new MusterError(error.code, error.message, details);
}

/** Returns the error with the names of tools replaced by those at the caller's endpoint. */
function withToolNames(error: MusterError, { named }: RequestContext['directory']): MusterError {
  const { suggestion, ...rest } = error.details;
  const details = { ...rest, cause: error.cause, ...(suggestion !== undefined && { suggestion: named(suggestion) }) };
  return new MusterError(error.code, named(error.message), details);
}

/** Returns the same text for `task_id` and `taskId`. */
function folded(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

/**
 * Runs a call, a resource read or the opening of a stream, and records a log entry, metrics and presence.
 * @param observed `tool`: the full name, or the resource's URI as listed, so that the log contains no text by
 *   callers; `isRoutine`: true if successful calls are not logged
 * @param work gets a function that excludes the time of a wait from the measured duration
 * @throws MusterError that may be shown to the caller
 */
export async function measured<T>(
  ports: CallPorts,
  { principal, requestId, workspace, directory }: RequestContext,
  { tool, isRoutine = false }: { readonly tool: string; readonly isRoutine?: boolean | undefined },
  work: (waiting: TrackWait) => Promise<T>,
): Promise<T> {
  const started = performance.now();
  const waits = new WaitTime(() => performance.now());
  const { uid, agent_id } = principal;
  const ofAgent = agent_id === undefined ? {} : { agentId: agent_id };
  const agent = callingAgent(principal);
  const noting = agent && touchPresence(ports, agent);
  let refused: MusterError | undefined;
  try {
    return await work(waits.during);
  } catch (error) {
    refused = withToolNames(presentableError(error, requestId, tool, ports.log), directory);
    throw refused;
  } finally {
    const waited = Math.round(waits.milliseconds);
    const milliseconds = Math.max(0, Math.round(performance.now() - started) - waited);
    const outcome = refused?.code ?? 'OK';
    const reason = refused?.details.reason;
    if (refused !== undefined || !isRoutine)
      ports.log.info('call', {
        requestId,
        principal: uid,
        ...ofAgent,
        tool,
        workspace,
        outcome,
        ...(reason !== undefined && { reason }),
        milliseconds,
        ...(waited > 0 && { waited }),
      });
    const at = ports.clock.now();
    await Promise.all([noting, ports.metrics.record({ tool, ...ofAgent, outcome, milliseconds, at })]);
  }
}

/** Measures how long a call has waited. Concurrent waits count once, and an unfinished wait counts up to now. */
export class WaitTime {
  private readonly now: () => number;
  private open = 0;
  private since = 0;
  private ended = 0;

  /** @param now returns the milliseconds of a monotonic clock */
  constructor(now: () => number) {
    this.now = now;
  }

  readonly during: TrackWait = async (wait) => {
    if (this.open === 0) this.since = this.now();
    this.open += 1;
    try {
      return await wait;
    } finally {
      this.open -= 1;
      if (this.open === 0) this.ended += this.now() - this.since;
    }
  };

  get milliseconds(): number {
    return this.open === 0 ? this.ended : this.ended + this.now() - this.since;
  }
}

// Progress notifications. Source: MCP 2025-11-25, "Progress".

/** Shorter than 10 seconds, the shortest timeout of known clients. Many clients restart their timeout on progress. */
const PROGRESS_INTERVAL_MS = 5_000;

/** MCP requires progress to grow, even while a call only waits. 1,000 of these steps equal one step of a tool. */
const MIN_PROGRESS_STEP = 0.001;

/** Sends progress notifications to a client that sent a progress token. */
export class ProgressReport {
  private readonly notify: CallContext['notify'];
  private readonly progressToken: string | number;
  private sent = 0;

  constructor(notify: CallContext['notify'], progressToken: string | number) {
    this.notify = notify;
    this.progressToken = progressToken;
  }

  readonly send = ({ progress, ...rest }: Progress): void => {
    this.sent = Math.max(progress, this.sent + MIN_PROGRESS_STEP);
    const params = { progressToken: this.progressToken, progress: this.sent, ...rest };
    this.notify({ method: 'notifications/progress', params });
  };

  /** Sends a notification at intervals while an operation runs, so that the client does not time out. */
  readonly during: TrackWait = async (wait) => {
    const timer = setInterval(
      () => this.send({ progress: 0, message: 'Still waiting.' }),
      PROGRESS_INTERVAL_MS,
    ).unref();
    try {
      return await wait;
    } finally {
      clearInterval(timer);
    }
  };
}

/** Identifies a call, so that a repeated call gets the first result. Source: docs/semantics.md#shared-behavior. */
export interface CallIdentity {
  readonly by: Actor;
  /** Bearer credential of the call. Secrets are derived from it, and it is never stored. */
  readonly credential: string;
}

export type IdempotencyPorts = Pick<KernelPorts, 'recordedResponses' | 'clock' | 'hashing'>;

const OPERATION_ID_LENGTH = 20;

/** Returns the `Operation` for a call that has no idempotency key. */
export function withoutKey(by: Actor): Operation {
  return {
    by,
    argumentsHash: undefined,
    recordResponse: () => ({ by }),
    derivedSecret: () => undefined,
    derivedId: () => undefined,
  };
}

/** Runs a call, or returns the recorded result if a call with its idempotency key has already completed. */
export async function runOnce(
  ports: IdempotencyPorts,
  { by, credential }: CallIdentity,
  prepared: PreparedCall,
  contextWith: (operation: Operation) => CallContext,
): Promise<JsonObject> {
  const { idempotencyKey: key } = prepared;
  if (key === undefined) return prepared.run(contextWith(withoutKey(by)));
  const { sha256, hmac } = ports.hashing;
  const id = sha256(JSON.stringify([by.uid, by.tool, by.workspace, key]));
  const argumentsHash = sha256(canonicalJson(prepared.input));
  const context = contextWith({
    by,
    argumentsHash,
    recordResponse: (answer) => {
      const expiresAt = new Date(ports.clock.now().getTime() + IDEMPOTENCY_HOURS * 3_600_000);
      return { by, response: { id, arguments_hash: argumentsHash, answer, expires_at: expiresAt } };
    },
    derivedSecret: (label) => hmac(credential, `${id}:${label}`),
    derivedId: (label) => sha256(`${id}:${label}`).slice(0, OPERATION_ID_LENGTH),
  });
  const settled = await findRecorded(ports, id, argumentsHash);
  if (settled !== undefined) return prepared.replay(context, settled.answer);
  try {
    return await prepared.run(context);
  } catch (error) {
    // The error may be caused by a concurrent call with this key, which has for example started the same task.
    if (!(error instanceof MusterError || error instanceof UnknownCommitOutcomeError)) throw error;
    const winner = await findRecorded(ports, id, argumentsHash);
    if (winner === undefined) throw error;
    return prepared.replay(context, winner.answer);
  }
}

/** Returns the recorded response. @throws MusterError CONFLICT if the key was used with other arguments */
async function findRecorded(
  { recordedResponses, clock, hashing }: IdempotencyPorts,
  id: string,
  argumentsHash: string,
): Promise<RecordedResponse | undefined> {
  const settled = await recordedResponses.find(id);
  if (settled === undefined || settled.expires_at <= clock.now()) return undefined;
  if (!hashing.equal(settled.arguments_hash, argumentsHash)) throw keyReused();
  return settled;
}
