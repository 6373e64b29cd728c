/** Runs calls that were approved, on behalf of their requester. Source: docs/decisions/0033-asking-people.md. */
import { type ApprovedCall, currentPrincipal } from '../access/rules/authentication.ts';
import type { AccessPorts } from '../access/rules/ports.ts';
import { requestTimeLeft } from '../kernel/concurrency.ts';
import { MusterError } from '../kernel/errors.ts';
import { actorOf, type CallPorts, readingContext, runOnce } from './call.ts';
import { presentableError } from './callContext.ts';
import { Catalogs } from './catalog.ts';
import { MAX_IDEMPOTENCY_KEY_LENGTH, type Served } from './tool.ts';
import { type Outcome, withinSizeLimit } from './toolResponse.ts';

/** Time limit of the call. Slower tools respond earlier, with an id by which the result can be looked up. */
const CALL_TIMEOUT_MS = 15_000;

/** The result is stored in the request's document, and may use up to a third of the document's maximum size. */
const STORED_RESULT_SHARE = 3;

type Ports = CallPorts & Served & Pick<AccessPorts, 'agents' | 'grants' | 'roles' | 'idTokens'>;

export class ApprovedCalls {
  private readonly ports: Ports;
  private readonly catalogs: Catalogs;
  /** URL of this deployment's endpoint, `…/mcp`. */
  private readonly baseUrl: string;

  constructor(ports: Ports, baseUrl: string) {
    this.ports = ports;
    this.catalogs = new Catalogs(ports.toolsets);
    this.baseUrl = baseUrl;
  }

  /** Runs the call with the caller's current rights. @throws only errors after which a retry may succeed */
  async run(call: ApprovedCall): Promise<Outcome> {
    const { ports } = this;
    const { id, caller, workspace, tool: name, input, approvedBy, shown } = call;
    const found = this.catalog.findTool(name);
    if (found === undefined) return { error: new MusterError('NOT_FOUND', `The tool "${name}" no longer exists.`) };
    const { toolset, tool, scope } = found;
    const { role, agentRole, annotations } = tool;
    const need = { toolset, what: name, role, agentRole, scope, writes: !annotations.readOnlyHint };
    try {
      const principal = await currentPrincipal(ports, caller, workspace, need);
      // The key is longer than any key that callers may send, so it never equals theirs.
      const prepared = { ...tool.prepare(input), idempotencyKey: id.padEnd(MAX_IDEMPOTENCY_KEY_LENGTH + 1, '.') };
      const again = { authenticate: async () => principal, reauthenticate: async () => principal };
      const unattended = { ...ports, authenticator: again };
      const request = {
        principal,
        credential: id,
        workspace,
        requestId: id,
        baseUrl: this.baseUrl,
        directory: this.catalog.directory,
        disconnectSignal: () => new AbortController().signal,
        timeLeft: requestTimeLeft(CALL_TIMEOUT_MS),
      };
      // The request id replaces the credential, because tools with approval derive no secrets from credentials.
      const by = { ...actorOf(request, name), ...(approvedBy !== undefined && { approved_by: approvedBy, shown }) };
      const identity = { by, credential: id };
      const answer = await runOnce(ports, identity, prepared, (operation) => ({
        ...readingContext(unattended, request, name),
        operation,
      }));
      return { answer: withinSizeLimit(tool, answer, (json) => Buffer.byteLength(json) * STORED_RESULT_SHARE) };
    } catch (error) {
      const refusal = presentableError(error, id, name, ports.log);
      // A retry may succeed, because the arguments did not cause the error.
      if (['FIREBASE_ERROR', 'TIMEOUT', 'RATE_LIMITED', 'INTERNAL'].includes(refusal.code)) throw error;
      return { error: refusal };
    }
  }

  private get catalog() {
    const selection = { readonly: false, workspace: undefined, dialect: 'prefixed', listing: 'whole' } as const;
    return this.catalogs.of({ ...selection, toolsets: this.catalogs.names });
  }
}
