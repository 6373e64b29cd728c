/** Runs one call of a tool, from its raw arguments to its answer. */
import { type Approvals, admit, authorise, type GatePorts } from '../access/rules/gate.ts';
import type { AccessPorts } from '../access/rules/ports.ts';
import { callingAgent, touchPresence } from '../agents/rules/liveness.ts';
import { asksIn, rightsOf } from '../identity/rules/principal.ts';
import {
  type Operation,
  REPLAY_HOURS,
  type RecordedAnswer,
  UnansweredCommitError,
} from '../kernel/commit.ts';
import { keyReused, MusterError } from '../kernel/errors.ts';
import { canonicalJson, type JsonObject } from '../kernel/json.ts';
import { LooseningError } from '../kernel/loosening.ts';
import type { KernelPorts } from '../kernel/ports.ts';
import type { Actor } from '../kernel/trail.ts';
import type { Waiting } from '../kernel/waiting.ts';
import {
  LOOK_FIRST,
  type Outcome,
  presentable,
  requireTime,
  textWithinBounds,
  withDeadline,
  withinBounds,
} from './answer.ts';
import type { CallContext, Progress, RequestContext } from './callContext.ts';
import type { FoundResource, FoundTemplate } from './resources.ts';
import type { FoundTool, PreparedCall, Tool } from './tool.ts';
import { fullName } from './tool.ts';

export interface CallPorts
  extends IdempotencyPorts,
    GatePorts,
    Pick<AccessPorts, 'limits' | 'presence' | 'metrics' | 'log'> {
  readonly services: () => never;
  readonly approvals: Approvals;
  readonly view: CallContext['view'];
}

/** What a client is told before the answer. */
interface Telling {
  readonly notify: CallContext['notify'];
  readonly elicitation?: CallContext['elicitation'];
  /** Names the call for a client that wants to be told how far it has come. */
  readonly progressToken?: string | number | undefined;
  /** What an answer takes as it is sent. */
  readonly bytesOf: (json: string) => number;
}

/** For a caller who is told nothing before the answer, and gets that once. */
const UNTOLD: Telling = { notify: () => undefined, bytesOf: Buffer.byteLength };

/** For a client that does not ask how far a call has come. */
const UNWATCHED: Progressing = { send: () => undefined, during: (wait) => wait };

interface Given {
  /** The arguments, as they were sent. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly telling?: Telling;
}

/** Calls a tool. Never throws: what goes wrong is in the outcome. */
export async function callTool(
  ports: CallPorts,
  requestContext: RequestContext,
  { toolset, tool, scope }: FoundTool,
  { given, telling = UNTOLD }: Given,
): Promise<Outcome> {
  const name = fullName(toolset, tool.name);
  const { workspace, credential, timeLeft } = requestContext;
  const { role, agentRole, annotations, openToAll } = tool;
  const need = { toolset, what: name, role, agentRole, scope, writes: !annotations.readOnlyHint, openToAll };
  const call = async (waited: Waiting) => {
    await ports.limits.take(requestContext.principal);
    const admitted = await admit(ports, requestContext, need);
    const { principal } = admitted;
    const prepared = tool.prepare(given);
    requireTime(timeLeft);
    const { notify, elicitation, progressToken } = telling;
    const { send: progress, during } =
      progressToken === undefined ? UNWATCHED : new ProgressReport(notify, progressToken);
    // Who loses a role while a call waits is not told what it has waited for.
    const waiting: Waiting = async (wait) => {
      const result = await waited(during(wait));
      const now = await ports.authenticator.authenticate(credential);
      authorise(now, workspace, need);
      // What it has waited for says itself whose it is, and was looked at before.
      if (scope === 'owner' && rightsOf(now) !== rightsOf(principal)) throw rightsChanged();
      return result;
    };
    let late = LOOK_FIRST;
    const ifLate: CallContext['ifLate'] = (said) => {
      late = said;
    };
    const identity = { by: actorOf(admitted, name), credential };
    const mayWait = tool.approvable === true || (tool.loosens ?? []).length > 0;
    const approved = mayWait ? gated(ports.approvals, admitted, { name, tool }, prepared) : prepared;
    const work = runOnce(ports, identity, approved, (operation) =>
      contextOf(ports, admitted, { operation, notify, elicitation, progress, ifLate, waiting }),
    );
    const named = work.catch((error: unknown) => {
      throw namingOwnArgument(error, tool);
    });
    return withinBounds(tool, await withDeadline(named, timeLeft(), () => late), telling.bytesOf);
  };
  try {
    return { answer: await observed(ports, requestContext, { tool: name, isRoutine: tool.routine }, call) };
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    return { error };
  }
}

function rightsChanged(): MusterError {
  return new MusterError('CONFLICT', 'Your permissions changed while the call was waiting.', {
    reason: 'RIGHTS_CHANGED',
    suggestion: 'Retry.',
  });
}

/** Who makes a call, as the trail has it. */
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

/** @throws MusterError as its reader may see it */
export function readResource(
  ports: CallPorts,
  requestContext: RequestContext,
  found: FoundResource,
): Promise<string> {
  return observedRead(ports, requestContext, found.what, async () => {
    await ports.limits.take(requestContext.principal);
    const admitted = await admit(ports, requestContext, found.need);
    return textWithinBounds(found, await found.resource.read(readingContext(ports, admitted, found.what)));
  });
}

/** The values that a variable of a template may have. @throws MusterError as its reader may see it */
export function completeVariable(
  ports: CallPorts,
  requestContext: RequestContext,
  { need, template }: FoundTemplate,
  { variable, chosen }: { readonly variable: string; readonly chosen: Readonly<Record<string, string>> },
): Promise<readonly string[]> {
  const what = template.uriTemplate;
  return observedRead(ports, requestContext, `complete ${what}`, async () => {
    const context = readingContext(ports, await admit(ports, requestContext, need), what);
    return (await template.completions.get(variable)?.(context, chosen)) ?? [];
  });
}

function observedRead<T>(
  ports: CallPorts,
  requestContext: RequestContext,
  what: string,
  read: () => Promise<T>,
): Promise<T> {
  return observed(ports, requestContext, { tool: what }, async () => {
    requireTime(requestContext.timeLeft);
    return withDeadline(read(), requestContext.timeLeft());
  });
}

/** The context of what is read: it settles nothing, notifies nobody and waits for nobody. */
export function readingContext(ports: CallPorts, requestContext: RequestContext, what: string): CallContext {
  return contextOf(ports, requestContext, {
    operation: unkeyed(actorOf(requestContext, what)),
    notify: UNTOLD.notify,
    progress: () => undefined,
    ifLate: () => undefined,
    waiting: (wait) => wait,
  });
}

function contextOf(
  ports: CallPorts,
  requestContext: RequestContext,
  call: Pick<CallContext, 'operation' | 'notify' | 'elicitation' | 'progress' | 'ifLate' | 'waiting'>,
): CallContext {
  const { credential: _, ...request } = requestContext;
  const { services, view } = ports;
  return { ...request, ...call, caller: requestContext, services: services(), view };
}

/** Has an error name the argument as its tool does: rules have one name for what some tools write in another way. */
export function namingOwnArgument(error: unknown, { input }: Pick<Tool, 'input'>): unknown {
  if (!(error instanceof MusterError) || error.details.field === undefined) return error;
  const [first = '', ...rest] = error.details.field.split('.');
  const own = Object.keys(input.shape);
  const name = own.find((one) => one === first) ?? own.find((one) => folded(one) === folded(first));
  if (name === undefined || name === first) return error;
  const details = { ...error.details, field: [name, ...rest].join('.'), cause: error.cause };
  return new MusterError(error.code, error.message, details);
}

/** An error whose texts name tools as the caller's list does. */
function namingTools(error: MusterError, { named }: RequestContext['directory']): MusterError {
  const { suggestion, ...rest } = error.details;
  const details = {
    ...rest,
    cause: error.cause,
    ...(suggestion !== undefined && { suggestion: named(suggestion) }),
  };
  return new MusterError(error.code, named(error.message), details);
}

/** `task_id` and `taskId` are one. */
function folded(name: string): string {
  return name.replaceAll('_', '').toLowerCase();
}

/**
 * Does the work of a call, a resource or the opening of a stream, and notes it: a log entry, its counts, and that
 * the agent is alive.
 * @param observed `tool`: its full name, or the URI of a resource as its toolset lists it: nothing that a caller chose;
 *   `isRoutine`: whether there is no log entry where it goes well
 * @param work is given what leaves the time of a wait out of the call's own
 * @throws MusterError as the caller may see it
 */
export async function observed<T>(
  ports: CallPorts,
  { principal, requestId, workspace, directory }: RequestContext,
  { tool, isRoutine = false }: { readonly tool: string; readonly isRoutine?: boolean | undefined },
  work: (waiting: Waiting) => Promise<T>,
): Promise<T> {
  const started = performance.now();
  const waits = new WaitingTime(() => performance.now());
  const { uid, agent_id } = principal;
  const ofAgent = agent_id === undefined ? {} : { agentId: agent_id };
  const agent = callingAgent(principal);
  const noting = agent && touchPresence(ports, agent);
  let refused: MusterError | undefined;
  try {
    return await work(waits.during);
  } catch (error) {
    refused = namingTools(presentable(error, requestId, tool, ports.log), directory);
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

/** How long a call has only waited. Waits at the same time count once, and one that goes on counts so far. */
export class WaitingTime {
  private readonly now: () => number;
  private open = 0;
  private since = 0;
  private ended = 0;

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number) {
    this.now = now;
  }

  readonly during: Waiting = async (wait) => {
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

// Calls that a person may have to approve. Source: docs/security.md#two-rules; docs/decisions/0033-asking-people.md.

/** A call that may need approval: by the workspace's wish, or as it loosens a limit. A repeated key replays unasked. */
export function gated(
  approvals: Approvals,
  { principal, workspace }: RequestContext,
  { name, tool }: { readonly name: string; readonly tool: Tool },
  prepared: PreparedCall,
): PreparedCall {
  const { input, idempotencyKey, mostUsd } = prepared;
  const call = { principal, workspace, tool: name, input, idempotencyKey, mostUsd };
  const isAsked = tool.approvable && asksIn(principal.owner, workspace);
  return {
    ...prepared,
    async run(context) {
      const said = isAsked ? await approvals.pass(call) : undefined;
      if (said !== undefined) return said;
      try {
        return await prepared.run(context);
      } catch (error) {
        if (!(error instanceof LooseningError) || error.loosening.inPerson || !tool.loosens?.length)
          throw error;
        return approvals.passLoosening(call, error);
      }
    },
  };
}

// The progress notifications of one call. Source: MCP 2025-11-25, "Progress".

/** Clients have time limits of 10 seconds and more, which many start again with each notification. */
const EVERY_MS = 5_000;

/** Each number must be larger than the one before; a thousand waits are less than one step of a tool's own. */
const LEAST_STEP = 0.001;

/** How a call says how far it has come. */
export interface Progressing {
  readonly send: (progress: Progress) => void;
  /** Awaits something that takes its time. */
  readonly during: Waiting;
}

/** Sends progress to a client that has given a token. */
export class ProgressReport implements Progressing {
  private readonly notify: CallContext['notify'];
  private readonly progressToken: string | number;
  private sent = 0;

  constructor(notify: CallContext['notify'], progressToken: string | number) {
    this.notify = notify;
    this.progressToken = progressToken;
  }

  readonly send = ({ progress, ...rest }: Progress): void => {
    this.sent = Math.max(progress, this.sent + LEAST_STEP);
    const params = { progressToken: this.progressToken, progress: this.sent, ...rest };
    this.notify({ method: 'notifications/progress', params });
  };

  /** Sends progress at intervals while a wait lasts, so that the client does not give up. */
  readonly during: Waiting = async (wait) => {
    const timer = setInterval(() => this.send({ progress: 0, message: 'Still waiting.' }), EVERY_MS).unref();
    try {
      return await wait;
    } finally {
      clearInterval(timer);
    }
  };
}

/** Whose call it is and which: a repeated call gets the first answer. Source: docs/semantics.md#shared. */
export interface CallIdentity {
  readonly by: Actor;
  /** The bearer credential: the key of derived secrets, never stored. */
  readonly credential: string;
}

export type IdempotencyPorts = Pick<KernelPorts, 'recordedAnswers' | 'clock' | 'hashing'>;

const ID_LENGTH = 20;

/** The operation of a call that gave no key. */
export function unkeyed(by: Actor): Operation {
  return {
    by,
    argumentsHash: undefined,
    recordAnswer: () => ({ by }),
    derivedSecret: () => undefined,
    derivedId: () => undefined,
  };
}

/** Runs the call, which one with a key does but once. */
export function runOnce(
  ports: IdempotencyPorts,
  identity: CallIdentity,
  prepared: PreparedCall,
  contextWith: (operation: Operation) => CallContext,
): Promise<JsonObject> {
  const { idempotencyKey: key } = prepared;
  if (key === undefined) return prepared.run(contextWith(unkeyed(identity.by)));
  return runKeyed(ports, identity, { prepared, key }, contextWith);
}

/** Runs the call, or replays it where its key has been settled. */
async function runKeyed(
  ports: IdempotencyPorts,
  { by, credential }: CallIdentity,
  { prepared, key }: { readonly prepared: PreparedCall; readonly key: string },
  contextWith: (operation: Operation) => CallContext,
): Promise<JsonObject> {
  const { sha256, hmac } = ports.hashing;
  const id = sha256(JSON.stringify([by.uid, by.tool, by.workspace, key]));
  const argumentsHash = sha256(canonicalJson(prepared.input));
  const context = contextWith({
    by,
    argumentsHash,
    recordAnswer: (answer) => {
      const expiresAt = new Date(ports.clock.now().getTime() + REPLAY_HOURS * 3_600_000);
      return { by, answer: { id, arguments_hash: argumentsHash, answer, expires_at: expiresAt } };
    },
    derivedSecret: (label) => hmac(credential, `${id}:${label}`),
    derivedId: (label) => sha256(`${id}:${label}`).slice(0, ID_LENGTH),
  });
  const settled = await findSettled(ports, id, argumentsHash);
  if (settled !== undefined) return prepared.replay(context, settled.answer);
  try {
    return await prepared.run(context);
  } catch (error) {
    // Whatever refused this call may be what the same call has just done: a task started cannot be started.
    if (!(error instanceof MusterError || error instanceof UnansweredCommitError)) throw error;
    const winner = await findSettled(ports, id, argumentsHash);
    if (winner === undefined) throw error;
    return prepared.replay(context, winner.answer);
  }
}

/** @throws MusterError CONFLICT where the key was used with other arguments */
async function findSettled(
  { recordedAnswers, clock, hashing }: IdempotencyPorts,
  id: string,
  argumentsHash: string,
): Promise<RecordedAnswer | undefined> {
  const settled = await recordedAnswers.find(id);
  if (settled === undefined || settled.expires_at <= clock.now()) return undefined;
  if (!hashing.equal(settled.arguments_hash, argumentsHash)) throw keyReused();
  return settled;
}
