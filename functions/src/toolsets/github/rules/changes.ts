/** What commits of GitHub may change. */

import type { ChangeOf } from '../../../kernel/commit.ts';
import type { CoordinationChange } from '../../coordination/index.ts';
import type { LinkChanges } from './link.ts';

export type GitHubChange = ChangeOf<LinkChanges> | CoordinationChange;
