/** Processor time and memory of a request, as reported by the process that handled the request. */
import { z } from 'zod';

export const NUMBER_HEADER = 'x-attack-number';

export const costReport = z.object({
  number: z.number(),
  cpuMs: z.number(),
  /** Peak memory during the request, minus the memory at the start of the request. */
  grownMebibytes: z.number(),
  peakMebibytes: z.number(),
});

export type Cost = z.output<typeof costReport>;
