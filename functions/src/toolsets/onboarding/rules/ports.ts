/** What newcomers are told from. */
import type { AccessPorts } from '../../../access/rules/ports.ts';

/** When an agent first did something that its own document does not tell. One read each. */
export interface FirstActs {
  discovery(agentId: string): Promise<Date | undefined>;
  createdTask(agentId: string): Promise<Date | undefined>;
}

export interface OnboardingPorts extends AccessPorts {
  readonly firstActs: FirstActs;
}
