/** What commits of signing in may change. */

import type { AccessChange } from '../../access/rules/changes.ts';
import type { ChangeOf } from '../../kernel/commit.ts';
import type { AuthorizationChanges } from './authorization.ts';
import type { ClientChanges } from './clients.ts';

export type SignInChange = ChangeOf<AuthorizationChanges & ClientChanges> | AccessChange;
