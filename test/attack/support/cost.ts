/** Cost of a request, as reported by the process that handled it. */
import { z } from 'zod';

/** Header with the number of a request. */
export const NUMBER_HEADER = 'x-attack-number';

export const costReport = z.object({
  number: z.number(),
  cpuMs: z.number(),
  /** Peak memory during the request minus memory at its start. */
  grownMebibytes: z.number(),
  peakMebibytes: z.number(),
});

export type Cost = z.output<typeof costReport>;
