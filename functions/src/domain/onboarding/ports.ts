/** What newcomers are told from. */
import type { AccessPorts } from '../agents/ports.ts';
import type { FirstActs } from './service.ts';

export interface OnboardingPorts extends AccessPorts {
  readonly firstActs: FirstActs;
}
