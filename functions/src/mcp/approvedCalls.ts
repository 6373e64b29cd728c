/** Makes calls that were approved, as whoever asked, after their request is over. Source: docs/decisions/0033-asking-people.md. */

import { type RememberedCaller, standingOf } from '../access/rules/authentication.ts';
import type { AccessPorts } from '../access/rules/ports.ts';
import { MusterError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import { type Outcome, presentable, timeLeftOfRequest, withinBounds } from './answer.ts';
import { actorOf, type CallPorts, readingContext, runOnce } from './call.ts';
import type { RequestContext } from './callContext.ts';
import { Catalogues } from './catalogue.ts';
import { MAX_KEY_LENGTH, type Served } from './tool.ts';

/** A call as it waited for its approval. */
export interface ApprovedCall {
  /** Of the request: the same call is never made twice under it. */
  readonly id: string;
  readonly caller: RememberedCaller;
  readonly workspace: string;
  /** Its full name. */
  readonly tool: string;
  /** As they were checked. */
  readonly input: JsonObject;
  /** The uid of the person who approved it themselves; absent if an agent answered for them. */
  readonly approvedBy?: string | undefined;
  /** The loosenings that they were shown, if the call was asked about because of them. */
  readonly shown?: readonly string[] | undefined;
}

/** How long a tool that waits may wait here: what goes on longer has an id to be looked up by. */
const WAITED_MILLISECONDS = 15_000;

/** What is kept of an answer takes no more than a part of a document. */
const KEPT_SHARE = 3;

type Ports = CallPorts & Served & Pick<AccessPorts, 'agents' | 'grants' | 'roles' | 'idTokens'>;

export class ApprovedCalls {
  private readonly ports: Ports;
  private readonly catalogues: Catalogues;
  /** Where this deployment answers. */
  private readonly baseUrl: string;

  constructor(ports: Ports, baseUrl: string) {
    this.ports = ports;
    this.catalogues = new Catalogues(ports.toolsets);
    this.baseUrl = baseUrl;
  }

  /** Makes the call with present rights, or returns its outcome. @throws only what may be otherwise when tried again */
  async make(call: ApprovedCall): Promise<Outcome> {
    const { ports } = this;
    const { id, caller, workspace, tool: name, input, approvedBy, shown } = call;
    const found = this.catalogue.findTool(name);
    if (found === undefined) return { error: noSuchTool(name) };
    const { toolset, tool, scope } = found;
    const { role, agentRole, annotations } = tool;
    const need = { toolset, what: name, role, agentRole, scope, writes: !annotations.readOnlyHint };
    try {
      const principal = await standingOf(ports, caller, workspace, need);
      const prepared = { ...tool.prepare(input), idempotencyKey: keyOf(id) };
      const again = { authenticate: async () => principal, authenticateAnew: async () => principal };
      const unattended = { ...ports, authenticator: again };
      const request = this.contextOf(principal, workspace, id);
      // No tool whose calls are approved derives a secret, which is what the credential is for.
      const by = {
        ...actorOf(request, name),
        ...(approvedBy !== undefined && { approved_by: approvedBy, shown }),
      };
      const identity = { by, credential: id };
      const answer = await runOnce(ports, identity, prepared, (operation) => ({
        ...readingContext(unattended, request, name),
        operation,
      }));
      return { answer: withinBounds(tool, answer, (json) => Buffer.byteLength(json) * KEPT_SHARE) };
    } catch (error) {
      const refusal = presentable(error, id, name, ports.log);
      if (mayPass(refusal)) throw error;
      return { error: refusal };
    }
  }

  private get catalogue() {
    const selection = {
      readonly: false,
      workspace: undefined,
      dialect: 'prefixed',
      listing: 'whole',
    } as const;
    return this.catalogues.of({ ...selection, toolsets: this.catalogues.names });
  }

  private contextOf(principal: RequestContext['principal'], workspace: string, id: string): RequestContext {
    const timeLeft = timeLeftOfRequest(WAITED_MILLISECONDS);
    return {
      principal,
      credential: id,
      workspace,
      requestId: id,
      baseUrl: this.baseUrl,
      directory: this.catalogue.directory,
      gone: () => new AbortController().signal,
      timeLeft,
    };
  }
}

/** Longer than a caller's may be, so that nobody else's call has it. */
function keyOf(id: string): string {
  return id.padEnd(MAX_KEY_LENGTH + 1, '.');
}

/** Whether it may go well another time: nothing that was said is wrong. */
function mayPass({ code }: MusterError): boolean {
  return ['FIREBASE_ERROR', 'TIMEOUT', 'RATE_LIMITED', 'INTERNAL'].includes(code);
}

function noSuchTool(name: string): MusterError {
  return new MusterError('NOT_FOUND', `The tool "${name}" no longer exists.`);
}
