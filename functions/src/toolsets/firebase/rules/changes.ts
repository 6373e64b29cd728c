/** What commits of subscriptions may change. */

import type { AccessChange } from '../../../access/rules/changes.ts';
import type { ChangeOf } from '../../../kernel/commit.ts';
import type { SubscriptionChanges } from './subscription.ts';

export type DataChange = ChangeOf<SubscriptionChanges> | AccessChange;
