/** What the rules of signing in read by, and what its store implements. */

import type { Versioned } from '../../kernel/commit.ts';
import type { Authorization } from './authorization.ts';
import type { RegisteredClient } from './client.ts';

export interface SignInQueries {
  authorization(id: string): Promise<Versioned<Authorization> | undefined>;
  client(id: string): Promise<RegisteredClient | undefined>;
}
