/**
 * Revocation of an agent, together with its credentials, sign-ins, descendants, invitations and waiting calls.
 * Descendants are the agents that were registered through its credentials. Source: docs/semantics.md#permissions.
 */
import type { Credential, Link } from '../../identity/rules/credential.ts';
import { endingOf, type Grant } from '../../identity/rules/grant.ts';
import { withdrawalOf } from '../../identity/rules/lineage.ts';
import type { Invitation } from '../../identity/rules/people.ts';
import type { AnyChange, RecordResponse, Store } from '../../kernel/commit.ts';
import { retryOnConflict } from '../../kernel/concurrency.ts';
import { chunksOf } from '../../kernel/paging.ts';
import { Service } from '../../kernel/ports.ts';
import type { AccessChange, AccessPorts } from './ports.ts';

export interface WaitingCall<Change> {
  readonly id: string;
  readonly agentId: string;
  readonly lineage: readonly Link[];
  readonly ended: Change;
}

/** Data of toolsets that ends when a credential is revoked. */
export interface Endings<Change> {
  readonly waitingCalls: (agentIds: readonly string[]) => Promise<readonly WaitingCall<Change>[]>;
}

export interface Ended {
  /** Number of ended credentials and sign-ins of the agent itself. */
  readonly credentials: number;
  readonly agents: readonly { readonly id: string; readonly name: string }[];
  readonly invitations: readonly Pick<Invitation, 'workspace' | 'email'>[];
  readonly requests: readonly string[];
}

interface Found<Change> {
  readonly own: readonly Credential[];
  readonly grants: readonly Grant[];
  readonly descendants: readonly Credential[];
  readonly invitations: readonly Invitation[];
  readonly calls: readonly WaitingCall<Change>[];
}

/** Maximum number of changes per commit. Each change writes up to three documents. */
const MAX_CHANGES = 50;
const PAGE = 200;

interface RevocationPorts<Change extends AnyChange> extends AccessPorts {
  readonly store: Store<AccessChange | Change>;
  readonly endings: Endings<Change>;
}

/** `Change`: type of the changes that end data of toolsets. */
export class Revocation<Change extends AnyChange> extends Service<RevocationPorts<Change>> {
  /** Revokes an agent and everything created through its credentials. A repeated call completes the revocation. */
  async revoke(agentId: string, recordResponse: RecordResponse<Ended> = () => undefined): Promise<Ended> {
    const { store, randomness, clock } = this.ports;
    const { ended, later } = await retryOnConflict(randomness, async () => {
      const found = await this.find(agentId);
      const [first = [], ...rest] = chunksOf(changesOf(found, clock.now()), MAX_CHANGES);
      const outcome = { ended: await this.endedOf(found), later: rest };
      if (first.length > 0) await store.commit(first, recordResponse(outcome.ended));
      return outcome;
    });
    let known: readonly (readonly (AccessChange | Change)[])[] | undefined = later;
    await retryOnConflict(randomness, async () => {
      const batches = known ?? chunksOf(changesOf(await this.find(agentId), clock.now()), MAX_CHANGES);
      known = undefined;
      for (const batch of batches) await store.commit(batch);
    });
    return ended;
  }

  private async find(agentId: string): Promise<Found<Change>> {
    const { agents, grants, people, endings } = this.ports;
    const [own, open] = await Promise.all([agents.credentials(agentId), grants.ofAgents([agentId])]);
    const descendants = await this.descendantsOf(agentId);
    const invitations = await people.invitationsThrough(agentId);
    const concerned = new Set([agentId, ...descendants.map((one) => one.agent_id)]);
    const calls = await endings.waitingCalls([...concerned]);
    return {
      own,
      grants: open.map(({ value }) => value),
      descendants: descendants.filter((one) => one.agent_id !== agentId),
      invitations,
      // A descendant's call stays if the descendant made it with a credential that remains valid.
      calls: calls.filter((call) => call.agentId === agentId || call.lineage.some((link) => link.agent_id === agentId)),
    };
  }

  private async descendantsOf(agentId: string): Promise<readonly Credential[]> {
    const found: Credential[] = [];
    for (;;) {
      const page = await this.ports.agents.credentialsThrough(agentId, PAGE, found.at(-1)?.api_key);
      found.push(...page);
      if (page.length < PAGE) return found;
    }
  }

  private async endedOf({ own, grants, descendants, invitations, calls }: Found<Change>): Promise<Ended> {
    const ids = [...new Set(descendants.map(({ agent_id }) => agent_id))];
    const those = await this.ports.agents.findAll(ids);
    return {
      credentials: own.length + grants.length,
      agents: those.map(({ value: { id, name } }) => ({ id, name })),
      invitations: invitations.map(({ workspace, email }) => ({ workspace, email })),
      requests: calls.map(({ id }) => id),
    };
  }
}

export function isAnything({ credentials, agents, invitations, requests }: Ended): boolean {
  return credentials + agents.length + invitations.length + requests.length > 0;
}

function changesOf<Change>(
  { own, grants, descendants, invitations, calls }: Found<Change>,
  now: Date,
): readonly (AccessChange | Change)[] {
  return [
    ...own.map(withdrawalOf),
    ...grants.map((grant) => endingOf(grant, 'revoked', now)),
    ...descendants.map(withdrawalOf),
    ...invitations.map((before): AccessChange => ({ kind: 'endInvitation', id: before.id, before })),
    ...calls.map(({ ended }) => ended),
  ];
}
