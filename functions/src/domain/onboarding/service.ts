/** Arriving: the welcome and the checklist. Source: spec/network.md, "Onboarding Tools"; docs/semantics.md#network. */
import type { AgentType } from '../agents/agent.ts';
import type { AgentRegistration } from '../agents/registration.ts';
import { MusterError } from '../errors.ts';
import { hasRole, type Principal } from '../principal.ts';
import { type ChecklistItem, checklist, leads } from './checklist.ts';
import { plainText } from './plainText.ts';
import type { OnboardingPorts } from './ports.ts';
import { registrationName } from './registrationName.ts';
import { type Welcome, welcome } from './welcome.ts';

export interface WelcomeRequest {
  readonly agentName: string;
  readonly role: AgentType;
  readonly specializations: readonly string[];
  readonly language: string;
}

const MAX_CONTACTS = 5;

export class OnboardingService {
  private readonly ports: OnboardingPorts;
  private readonly registration: AgentRegistration;

  constructor(ports: OnboardingPorts, registration: AgentRegistration) {
    this.ports = ports;
    this.registration = registration;
  }

  /** @throws MusterError VALIDATION_ERROR for a name that cannot be read */
  welcome(principal: Principal, workspace: string, request: WelcomeRequest): Welcome {
    const { hashing } = this.ports;
    const name = plainText(request.agentName);
    if (name === '') throw unreadableName();
    const ownName = registrationName(name, hashing);
    const specializations = request.specializations.map(plainText).filter((text) => text !== '');
    return welcome({
      name,
      role: request.role,
      specializations: [...new Set(specializations)],
      language: request.language,
      registration: { name: ownName, agentId: this.registration.agentId(principal.ownerUid, ownName) },
      workspace,
      mayLead: hasRole(principal.role, 'leader'),
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
  async checklist(principal: Principal, agentId: string): Promise<readonly ChecklistItem[]> {
    const { agents, firstActs } = this.ports;
    const agent = (await agents.find(agentId))?.value;
    const isTheirs =
      principal.agentId === agentId ||
      hasRole(principal.role, 'leader') ||
      (principal.kind === 'person' && agent?.ownerUid === principal.uid);
    if (agent === undefined || !isTheirs) throw noSuchAgent(agentId);
    const [firstDiscovery, firstTaskCreated] = await Promise.all([
      firstActs.discovery(agentId),
      leads(agent) ? firstActs.createdTask(agentId) : undefined,
    ]);
    return checklist({ agent, firstDiscovery, firstTaskCreated });
  }
}

function unreadableName(): MusterError {
  return new MusterError('VALIDATION_ERROR', 'The name has no character that can be read.', {
    field: 'agentName',
    suggestion: 'Give a name of letters or digits.',
  });
}

function noSuchAgent(agentId: string): MusterError {
  return new MusterError('NOT_FOUND', `There is no agent "${agentId}" whose checklist you may see.`, {
    field: 'agentId',
    value: agentId,
    suggestion: 'Give your own agent id; onboarding.registerAgent answers it.',
  });
}
