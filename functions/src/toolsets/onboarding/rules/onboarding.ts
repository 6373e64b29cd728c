/** Arriving: the welcome and the checklist. Source: the network specification, "Onboarding Tools"; docs/semantics.md#network. */
import type { AgentLiveness } from '../../../access/rules/liveness.ts';
import type { AccessPorts } from '../../../access/rules/ports.ts';
import { type Principal, roleIn } from '../../../access/rules/principal.ts';
import type { AgentRegistration } from '../../../access/rules/registration.ts';
import { hasRole } from '../../../access/rules/role.ts';
import { MusterError } from '../../../kernel/errors.ts';
import { isVisible, oneLine } from '../../../kernel/hidden.ts';
import { type Hashing, type PortOf, Service } from '../../../kernel/ports.ts';
import { type ChecklistItem, checklist, leads } from './checklist.ts';
import { type Newcomer, welcome } from './welcome.ts';

export interface OnboardingPorts extends AccessPorts {
  readonly onboardingFacts: OnboardingFacts;
  readonly registration: PortOf<AgentRegistration>;
  readonly liveness: Pick<AgentLiveness, 'actable'>;
}

const MAX_CONTACTS = 5;

export class OnboardingService extends Service<OnboardingPorts> {
  /** @throws MusterError VALIDATION_ERROR for a name that cannot be read */
  welcome(
    principal: Principal,
    written: Pick<Newcomer, 'name' | 'role' | 'specializations' | 'language' | 'workspace'>,
  ) {
    const name = oneLine(written.name);
    if (!isVisible(name)) {
      throw new MusterError('VALIDATION_ERROR', 'The name has no character that can be read.', {
        field: 'agentName',
        suggestion: 'Give a name of letters or digits.',
      });
    }
    const ownName = registrationName(name, this.ports.hashing);
    const specializations = written.specializations.map(oneLine).filter(isVisible);
    return welcome({
      ...written,
      name,
      specializations: [...new Set(specializations)],
      registration: { name: ownName, agentId: this.ports.registration.agentId(principal.ownerUid, ownName) },
      mayLead: hasRole(roleIn(principal, written.workspace) ?? 'viewer', 'leader'),
    });
  }

  /** The ids of some agents that lead the workspace. */
  contacts(workspace: string): Promise<readonly string[]> {
    return this.ports.directory.leaders(workspace, MAX_CONTACTS);
  }

  /**
   * An agent's checklist, for itself, its owner, leaders and admins.
   * @throws MusterError NOT_FOUND for everybody else
   */
  async checklist(
    principal: Principal,
    workspace: string,
    agentId: string,
  ): Promise<readonly ChecklistItem[]> {
    const { liveness, onboardingFacts } = this.ports;
    const agent = (await liveness.actable(principal, workspace, agentId))?.value;
    if (agent === undefined) {
      throw new MusterError('NOT_FOUND', `There is no agent "${agentId}" whose checklist you may see.`, {
        field: 'agentId',
        value: agentId,
        suggestion: 'Give your own agent id; onboarding.registerAgent answers it.',
      });
    }
    const [firstDiscovery, firstTaskCreated] = await Promise.all([
      onboardingFacts.discovery(agent.id),
      leads(agent) ? onboardingFacts.createdTask(agent.id) : undefined,
    ]);
    return checklist({ agent, firstDiscovery, firstTaskCreated });
  }
}

const MIN_LENGTH = 3;
const MAX_LENGTH = 50;

/**
 * The name under which onboarding.registerAgent takes an agent: letters, digits, "-" and "_". What had to be
 * left out of it is told apart by a digest, so that two names never become one agent.
 */
export function registrationName(name: string, hashing: Hashing): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  if (plain === name && plain.length >= MIN_LENGTH && plain.length <= MAX_LENGTH) return plain;
  const digest = hashing.sha256(name).slice(0, 8);
  const start = plain.slice(0, MAX_LENGTH - digest.length - 1) || 'agent';
  return `${start}-${digest}`;
}

/** When an agent first did something that its own document does not tell. Each is one read. */
export interface OnboardingFacts {
  discovery(agentId: string): Promise<Date | undefined>;
  /** A task's id begins with the time of its creation. */
  createdTask(agentId: string): Promise<Date | undefined>;
}
