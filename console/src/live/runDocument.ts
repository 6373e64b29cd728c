/** Schema of the stored runs, apart from the other documents, because the first screen needs none. */
import type { z } from 'zod/mini';
import { runDocument as storedRun } from '../../../functions/src/toolsets/orchestration/rules/runs/runDocument.ts';
import { open } from './open.ts';

export const runDocument = open(storedRun);
export type Run = z.output<typeof runDocument>;
