/** What commits of coding may change. */

import type { ChangeOf } from '../../../kernel/commit.ts';
import type { CoordinationChange } from '../../coordination/index.ts';
import type { CodingChanges } from './log.ts';

export type CodingChange = ChangeOf<CodingChanges> | CoordinationChange;
