import type { AgentRegistration } from '../../access/rules/registration.ts';
import type { OnboardingService } from './rules/onboarding.ts';

/** What the tools ask. */
export interface OnboardingServices {
  readonly onboarding: OnboardingService;
  readonly registration: AgentRegistration;
}
