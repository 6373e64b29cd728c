import type { AccessPorts } from '../../access/rules/ports.ts';
import type { AgentLiveness } from '../../agents/rules/liveness.ts';
import type { AgentRegistration } from '../../agents/rules/registration.ts';
import type { DocumentSource } from '../../kernel/firestore/reading.ts';
import { OnboardingService } from './rules/onboarding.ts';
import { FirestoreOnboardingFacts } from './store/onboardingFacts.ts';

export interface OnboardingDependencies extends DocumentSource {
  readonly access: AccessPorts;
  readonly registration: AgentRegistration;
  readonly liveness: AgentLiveness;
}

/** Creates the services for new agents. */
export function createOnboarding(dependencies: OnboardingDependencies) {
  const { database, documents, access, registration, liveness } = dependencies;
  const onboardingFacts = new FirestoreOnboardingFacts(database, documents);
  const services = {
    onboarding: new OnboardingService({ ...access, onboardingFacts, registration, liveness }),
    registration,
  };
  return { services };
}

export type OnboardingServices = ReturnType<typeof createOnboarding>['services'];
