import type { DataService } from './rules/dataService.ts';
import type { SubscriptionService } from './rules/subscriptionService.ts';

/** What the tools ask. */
export interface FirebaseServices {
  readonly data: DataService;
  readonly subscriptions: SubscriptionService;
}
