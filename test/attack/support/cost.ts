/** What a request has cost the process that answered it, as that process tells it. */
import { z } from 'zod';

/** The header by which a request is told apart from others. */
export const NUMBER_HEADER = 'x-attack-number';

export const costReport = z.object({
  number: z.number(),
  cpuMs: z.number(),
  /** By how much the process was larger at its largest than when the request began. */
  grownMebibytes: z.number(),
  /** How large it was then. */
  peakMebibytes: z.number(),
});

export type Cost = z.output<typeof costReport>;
