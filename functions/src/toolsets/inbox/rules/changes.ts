/** What commits of questions may change. */

import type { ChangeOf } from '../../../kernel/commit.ts';
import type { CoordinationChange } from '../../coordination/index.ts';
import type { EventChanges } from '../../todo/index.ts';
import type { RequestChanges } from './request.ts';

export type InboxChange = ChangeOf<RequestChanges & EventChanges> | CoordinationChange;
