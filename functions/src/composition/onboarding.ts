/** Composes what newcomers are told. */
import { FirestoreFirstActs } from '../adapters/firestore/firstActs.ts';
import type { OnboardingPorts } from '../domain/onboarding/ports.ts';
import { OnboardingService } from '../domain/onboarding/service.ts';
import type { Services } from '../domain/services.ts';
import type { Foundation } from './foundation.ts';

export function onboardingPorts({ database, documents }: Foundation) {
  return { firstActs: new FirestoreFirstActs(database, documents) };
}

export function onboardingServices(ports: OnboardingPorts, { registration }: Pick<Services, 'registration'>) {
  return { onboarding: new OnboardingService(ports, registration) };
}
